"""What is kept of a sweep: a folder with its record and its runs; or nothing."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from hydra.core.override_parser.types import Quote, QuotedString
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from latimer.sweeps.record import ERROR, Job, SweepRecord, new_sweep_folder, sole_sweep, write_aside
from latimer.sweeps.tables import sweep_page

PAGE = "sweep.md"


class Keeping:
    """Keeps nothing: the jobs leave no folders.

    Attributes:
        record: the jobs, and what became of them.
    """

    def __init__(self, folder: Path, monitor: str | None = None) -> None:
        self.record = SweepRecord(folder, monitor)

    def save(self) -> None:
        """Keeps the record as it is now."""

    def is_finished(self, job: Job) -> bool:
        """Whether there is nothing left to do for a job."""
        return job.status == "finished"

    def can_resume(self, job: Job) -> bool:
        """Whether a job has a state to go on from."""
        return False

    def arguments(self, job: Job, given: list[str]) -> list[str]:
        """What Hydra is told of a job, given what makes it this job."""
        return given

    def finish(self, job: Job) -> None:
        """Takes note of the end of a job."""
        job.status = "finished"

    def fail(self, job: Job) -> None:
        """Takes note of the failure of a job."""

    def last_words(self) -> list[str]:
        """What else a person wants to know at the end."""
        return []


class SweepFolder(Keeping):
    """Keeps the record and the runs, so that the sweep can go on."""

    @classmethod
    @contextmanager
    def opened(cls, config: DictConfig) -> Iterator[Self]:
        """The folder ``sweep_folder``, or a new one, for this process alone.

        Raises:
            LatimerError: it holds something else, or another process is working on it.
        """
        monitor = str(config.checkpoints.monitor)
        if config.sweep_folder is None:
            folder = new_sweep_folder(_parent(config), datetime.now())
        else:
            folder = Path(config.sweep_folder).expanduser()
            SweepRecord(folder, monitor)  # to refuse it before anything is made in it
            folder.mkdir(parents=True, exist_ok=True)
        print(f"sweep folder {folder}", flush=True)
        with sole_sweep(folder):
            yield cls(folder, monitor)

    def save(self) -> None:
        """Writes ``sweep.json`` and ``sweep.md``."""
        self.record.save()
        write_aside(self.record.folder / PAGE, sweep_page(self.record))

    def is_finished(self, job: Job) -> bool:
        """Likewise; a sweep can have been killed just after the last file of a job."""
        place = self.record.place(job)
        if job.status != "finished" and (place / "run.md").is_file():
            self.finish(job)
        return job.status == "finished"

    def can_resume(self, job: Job) -> bool:
        """Whether its run has a checkpoint."""
        place = self.record.place(job)
        return (place / "config.yaml").is_file() and any(place.glob("checkpoints/*.ckpt"))

    def arguments(self, job: Job, given: list[str]) -> list[str]:
        """Its settings and its folder; of one that can be resumed, the folder alone."""
        place = self.record.place(job)
        text = QuotedString(str(place), Quote.double).with_quotes()
        if self.can_resume(job):
            return [f"++resume={text}"]
        shutil.rmtree(place, ignore_errors=True)
        return [*given, f"++run_folder={text}"]

    def finish(self, job: Job) -> None:
        """Reads its scores from its folder."""
        from latimer.sweeps.results import bleu_scores, final_score  # noqa: PLC0415 (seconds)

        place = self.record.place(job)
        job.status, job.score = "finished", final_score(place, self.record.monitor or "")
        job.bleu = bleu_scores(place)
        (place / ERROR).unlink(missing_ok=True)

    def fail(self, job: Job) -> None:
        """Leaves its settings and its error in its folder."""
        self.record.note_failure(job)

    def last_words(self) -> list[str]:
        """Where all of it is, and how to go on."""
        folder, jobs = self.record.folder, self.record.jobs
        lines = [f"sweep folder {folder}"]
        if sum(job.status == "finished" for job in jobs) > 1:
            lines.append(f"compare      latimer compare {folder}")
        if any(job.status != "finished" for job in jobs):
            lines.append(f"to go on     the same command with sweep_folder={folder}")
        return lines


def _parent(config: DictConfig) -> Path:
    """Where sweeps of this name are kept; a name that depends on what is swept isn't known yet."""
    try:
        name: Any = config.name
    except OmegaConfBaseException:
        name = "sweeps"
    return Path(config.runs_folder).expanduser() / str(name)
