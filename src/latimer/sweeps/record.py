"""The jobs of a sweep and what became of them, in ``sweep.json`` in the sweep's folder."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from latimer.config.training import lower_is_better
from latimer.errors import LatimerError

RECORD, LOCK, ERROR = "sweep.json", ".lock", "error.log"


@dataclass
class Job:
    """One run of a sweep.

    Attributes:
        number: which one, from 1; its folder has this name.
        settings: what makes it this job, as on a command line.
        status: "running" is also that of a job which was killed.
        score: the best one of ``checkpoints.monitor``.
        bleu: of each test set.
        seconds: all the time spent on it.
        error: why it failed.
    """

    number: int
    settings: list[str]
    status: Literal["waiting", "running", "stopped", "failed", "finished"] = "waiting"
    score: float | None = None
    bleu: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    error: str | None = None


class SweepRecord:
    """The jobs of a sweep; :meth:`save` keeps them on disk.

    Args:
        folder: the sweep's. What an earlier start of the sweep left there is taken up.
        monitor: the score that the jobs are compared by; None if they have none.

    Attributes:
        jobs: by their numbers.

    Raises:
        LatimerError: the folder holds something else, or a sweep that can't go on so.
    """

    def __init__(self, folder: Path, monitor: str | None) -> None:
        self.folder = folder
        self.monitor = monitor
        self.jobs = _stored(folder, monitor)

    def job(self, settings: Sequence[str]) -> Job:
        """The job with these settings, in whatever order; a new one if there was none."""
        for job in self.jobs:
            if sorted(job.settings) == sorted(settings):
                return job
        self.jobs.append(Job(len(self.jobs) + 1, list(settings)))
        return self.jobs[-1]

    def place(self, job: Job) -> Path:
        """The folder of a job."""
        return self.folder / f"{job.number:02}"

    def best(self) -> Job | None:
        """The job with the best score, in the score's own direction; the first of equals."""
        scored = [job for job in self.jobs if math.isfinite(job.score or math.nan)]
        if self.monitor is None or not scored:
            return None
        sign = -1 if lower_is_better(self.monitor) else 1
        return max(scored, key=lambda job: sign * (job.score or 0.0))

    def save(self) -> None:
        """Writes all of it."""
        jobs = [{**asdict(job), "folder": self.place(job).name} for job in self.jobs]
        content = {"monitor": self.monitor, "jobs": jobs}
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        write_aside(self.folder / RECORD, text)

    def note_failure(self, job: Job) -> None:
        """Leaves the settings of a job and its error in the job's folder."""
        self.place(job).mkdir(parents=True, exist_ok=True)
        text = f"{' '.join(job.settings)}\n\n{job.error}\n"
        write_aside(self.place(job) / ERROR, text)


def new_sweep_folder(parent: Path, now: datetime) -> Path:
    """Makes ``<parent>/<date>_<time>_sweep[-n]``: two starts in one second give two folders."""
    parent.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        folder = parent / f"{now:%Y-%m-%d_%H-%M-%S}_sweep{'' if number == 1 else f'-{number}'}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise AssertionError("counting never ends")


@contextmanager
def sole_sweep(folder: Path) -> Iterator[None]:
    """Keeps other processes from working on the same sweep; a killed one keeps nobody off.

    Raises:
        LatimerError: another process is at it.
    """
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise LatimerError(
            f"sweep_folder={folder}: another process is working on this sweep"
        ) from None
    try:
        yield
    finally:
        (folder / LOCK).unlink(missing_ok=True)
        lock.release()


def write_aside(path: Path, text: str) -> None:
    """Writes UTF-8 under another name, then renames, so that the file is always whole."""
    aside = path.with_name(f".{path.name}.part")
    # An argument that the locale could not read holds half characters, which are escaped.
    aside.write_text(text, encoding="utf-8", errors="backslashreplace")
    aside.replace(path)


def _stored(folder: Path, monitor: str | None) -> list[Job]:
    """The jobs of an earlier start; none in a new or an empty folder."""
    path = folder / RECORD
    if not path.exists():
        if folder.exists() and (not folder.is_dir() or _names(folder) - {LOCK}):
            raise LatimerError(
                f"sweep_folder={folder}: holds something that is no sweep; write the path of a "
                "sweep that is to go on, or of a new folder"
            )
        return []
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        jobs = [_job(job) for job in content["jobs"]]
        former = content["monitor"]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise LatimerError(f"{path}: cannot be read: {error!r}") from error
    if former != monitor:
        raise LatimerError(
            f"checkpoints.monitor={monitor}: the sweep in {folder} compares its jobs by {former}; "
            f"write checkpoints.monitor={former}, or begin a new sweep"
        )
    return jobs


def _job(stored: dict[str, Any]) -> Job:
    return Job(**{key: value for key, value in stored.items() if key != "folder"})


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
