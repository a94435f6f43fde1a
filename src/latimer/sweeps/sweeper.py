"""What all kinds of sweeps share: jobs are run one after another, and their record is kept."""

import gc
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hydra._internal.core_plugins.basic_launcher import BasicLauncher
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict, read_write

from latimer.config.entry import JobError
from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.sweeps.keeping import Keeping, SweepFolder
from latimer.sweeps.record import Job
from latimer.sweeps.tables import name_job, show_sweep

DECIDED_BY_THE_SWEEP = ("run_folder", "resume")


class Planned(NamedTuple):
    """A job, and its arguments as Hydra needs them."""

    job: Job
    arguments: list[str]


class RecordedSweeper(Sweeper):
    """Runs the jobs of a sweep, each in a folder of its own in the sweep's folder.

    A job that fails is shown and noted at once, and the others go on. In a sweep that goes on, jobs
    are known by their settings: finished ones are left alone, those with a saved state resumed.

    With ``dry_run=true``, and where jobs have no folders (evaluations), nothing is kept.
    """

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Takes over what Hydra hands to a sweeper."""
        self.hydra_context, self.config = hydra_context, config
        self._task_function = task_function
        self._attempted: list[Job] = []

    @contextmanager
    def opened(self) -> Iterator[Keeping]:
        """Opens the sweep's folder, and shows at the end what became of the jobs.

        Raises:
            LatimerError: the folder can't be used.
            JobError: a job failed in the block.
        """
        assert self.config is not None
        with _keeping(self.config) as kept:
            self.launcher = self._make_launcher(kept.record.folder)
            try:
                yield kept
            finally:
                kept.save()
                screen = Screen()
                show_sweep(kept.record, screen)
                for line in kept.last_words():
                    screen.print(line)
        failed = sum(job.status == "failed" for job in self._attempted)
        if failed:
            raise JobError(f"{failed} of the jobs failed")

    def parse(self, arguments: Sequence[str]) -> list[Override]:
        """The settings that concern the jobs; of those with the same key, the last.

        Raises:
            LatimerError: one of them is decided by the sweep.
        """
        assert self.hydra_context is not None
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        parsed = {one.key_or_group: one for one in parser.parse_overrides(list(arguments))}
        parsed.pop("sweep_folder", None)
        for key in DECIDED_BY_THE_SWEEP:
            if (given := parsed.pop(key, None)) and given.value() is not None:
                raise LatimerError(
                    f"{(given.input_line or key).lstrip('+')}: the jobs of a sweep have their "
                    "folders in the sweep's; sweep_folder=FOLDER chooses it, or goes on with it"
                )
        return list(parsed.values())

    def run(self, planned: Sequence[Planned], kept: Keeping, total: int) -> None:
        """Runs those jobs that are not finished."""
        left = [one for one in planned if not kept.is_finished(one.job)]
        self._attempted += [one.job for one in left]
        # Another launcher may run them at the same time, and needs to know them all.
        # Told by name: Hydra may have loaded the module, and so made the class, more than once.
        kinds = [kind.__qualname__ for kind in type(self.launcher).__mro__]
        alone = BasicLauncher.__qualname__ in kinds
        for group in [[one] for one in left] if alone else [left] if left else []:
            for job, _ in group:
                more = " (goes on where it stopped)" if kept.can_resume(job) else ""
                number, _, settings = name_job(job, kept.record).partition(" ")
                print(f"job {number} of {total:02}: {settings}{more}".rstrip(": "), flush=True)
            self._launch(group, kept)

    def _launch(self, group: Sequence[Planned], kept: Keeping) -> None:
        assert self.launcher is not None
        arguments = [kept.arguments(job, given) for job, given in group]
        _set_all(group, "running", kept)
        started = time.monotonic()
        returned: Sequence[JobReturn | Exception]
        try:
            returned = self.launcher.launch(arguments, initial_job_idx=group[0].job.number - 1)
        except Exception as error:  # the configuration of a job can't be composed
            print(f"error: {error}", file=sys.stderr)
            returned = [error for _ in group]
        except BaseException:  # a signal
            _set_all(group, "stopped", kept)
            raise
        finally:
            for job, _ in group:
                job.seconds += time.monotonic() - started
        for (job, _), one in zip(group, returned, strict=True):
            _settle(job, one, kept)
        kept.save()
        del returned, one
        gc.collect()  # an exception holds on to the model of its job

    def _make_launcher(self, folder: Path) -> Launcher:
        """The launcher that was chosen; what it writes itself goes to the sweep's folder."""
        assert self.config is not None and self.hydra_context is not None  # noqa: PT018
        with read_write(self.config), open_dict(self.config):
            self.config.hydra.sweep.dir = str(folder)
        return Plugins.instance().instantiate_launcher(
            config=self.config,
            hydra_context=self.hydra_context,
            task_function=self._task_function,
        )


@contextmanager
def _keeping(config: DictConfig) -> Iterator[Keeping]:
    if "run_folder" in config and not config.get("dry_run"):
        with SweepFolder.opened(config) as kept:
            yield kept
        return
    with TemporaryDirectory(prefix="latimer-sweep-") as scratch:
        yield Keeping(Path(scratch))


def _set_all(group: Sequence[Planned], status: str, kept: Keeping) -> None:
    for job, _ in group:
        job.status, job.error = status, None  # type: ignore[assignment]
    kept.save()


def _settle(job: Job, returned: JobReturn | Exception, kept: Keeping) -> None:
    """Notes how a job ended."""
    if isinstance(returned, JobReturn) and returned.status == JobStatus.COMPLETED:
        kept.finish(job)
        return
    error = returned._return_value if isinstance(returned, JobReturn) else returned
    job.status, job.error = "failed", str(error)
    kept.fail(job)
