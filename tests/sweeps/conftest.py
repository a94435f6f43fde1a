"""Sweeps without Hydra's compositions and without trainings: what jobs do is told beforehand."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hydra._internal.core_plugins.basic_launcher import BasicLauncher
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from omegaconf import OmegaConf

from latimer.config.entry import JobError
from latimer.errors import LatimerError
from latimer.sweeps.grid import Grid
from latimer.sweeps.sweeper import RecordedSweeper

Settings = dict[str, Any]


@dataclass
class Trainings:
    """Stands in for all trainings.

    Attributes:
        happens: called with the settings and the folder of each job.
        score: the score of a job with these settings.
        began: the arguments of the jobs, in the order in which they were run.
        together: how many jobs the launcher was given at a time.
    """

    happens: Callable[[Settings, Path], None] = lambda settings, folder: None
    score: Callable[[Settings], float] = lambda settings: float(settings["seed"])
    began: list[Settings] = field(default_factory=list)
    together: list[int] = field(default_factory=list)

    def launch(self, jobs: list[list[str]]) -> list[JobReturn]:
        self.together.append(len(jobs))
        return [self._run(arguments) for arguments in jobs]

    def _run(self, arguments: list[str]) -> JobReturn:
        given = {
            override.key_or_group: override.value()
            for override in OverridesParser.create().parse_overrides(arguments)
        }
        self.began.append(given)
        try:
            self._train(given)
        except LatimerError as error:
            return JobReturn(status=JobStatus.FAILED, _return_value=JobError(f"error: {error}"))
        return JobReturn(status=JobStatus.COMPLETED)

    def _train(self, given: Settings) -> None:
        folder = Path(str(given.get("resume") or given["run_folder"]).strip("'\""))
        (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
        stored = folder / "config.yaml"
        if "resume" in given:
            given = json.loads(stored.read_text(encoding="utf-8"))
        stored.write_text(json.dumps({**given, "run_folder": None}, default=str), encoding="utf-8")
        self.happens(given, folder)
        (folder / "score").write_text(str(self.score(given)), encoding="utf-8")
        (folder / "run.md").touch()


class OneByOne(BasicLauncher):
    """As Hydra's own launcher, of which a job knows nothing."""

    trainings: Trainings

    def launch(self, job_overrides, initial_job_idx):
        return self.trainings.launch(job_overrides)


@dataclass(frozen=True)
class Swept:
    """What is left of a sweep."""

    ended: BaseException | None
    shown: str
    complaints: str

    @property
    def folder(self) -> Path:
        line = next(line for line in self.shown.split("\n") if line.startswith("sweep folder "))
        return Path(line.removeprefix("sweep folder "))

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return json.loads((self.folder / "sweep.json").read_text(encoding="utf-8"))["jobs"]

    @property
    def statuses(self) -> list[str]:
        return [job["status"] for job in self.jobs]


@pytest.fixture
def trainings(monkeypatch) -> Trainings:
    trainings = Trainings()
    monkeypatch.setattr(
        "latimer.sweeps.results.final_score",
        lambda folder, _: float((folder / "score").read_text(encoding="utf-8")),
    )
    monkeypatch.setattr("latimer.sweeps.results.bleu_scores", lambda _: {"mine": 12.345})
    monkeypatch.setattr("gc.collect", lambda: 0)  # a tenth of a second a job, in a test process
    return trainings


@pytest.fixture
def sweep(trainings, monkeypatch, capsys, tmp_path) -> Callable[..., Swept]:
    """A sweep of the given arguments; its own keys are given by name."""

    def run(
        *arguments: str,
        monitor: str = "val/bleu",
        sweep_folder: Path | None = None,
        sweeper: RecordedSweeper | None = None,
        launcher: type = OneByOne,
    ) -> Swept:
        monkeypatch.chdir(tmp_path)
        launching = launcher()
        launching.trainings = trainings
        monkeypatch.setattr(Plugins, "instantiate_launcher", lambda *_, **__: launching)
        config = OmegaConf.create(
            {
                "name": "search",
                "run_folder": None,
                "runs_folder": "runs",
                "sweep_folder": sweep_folder and str(sweep_folder),
                "dry_run": False,
                "checkpoints": {"monitor": monitor},
                "hydra": {"sweep": {"dir": "."}},
            }
        )
        loader = SimpleNamespace(load_sweep_config=lambda **_: None)
        sweeper = sweeper or Grid()
        context = SimpleNamespace(config_loader=loader)
        sweeper.setup(hydra_context=context, task_function=None, config=config)
        capsys.readouterr()
        ended = None
        try:
            sweeper.sweep([*arguments, "++sweep_folder=x"])
        except (JobError, LatimerError, SystemExit) as error:
            ended = error
        shown = capsys.readouterr()
        return Swept(ended, shown.out, shown.err)

    return run
