"""A run that goes on: is everything as it was, is anything left to do, and is its folder tidy?"""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import pytorch_lightning as pl
from pytorch_lightning.callbacks import WeightAveraging

from latimer.config.run import RunConfig
from latimer.data.loaders import TrainingLoader
from latimer.data.prepared import PreparedCorpus
from latimer.errors import LatimerError
from latimer.evaluation.files import REFERENCES, REPORT, TRANSLATIONS
from latimer.screen import Screen
from latimer.training.curves import go_on_from
from latimer.training.going_on import GoingOn
from latimer.training.hardware import Hardware
from latimer.training.limits import reached_limit
from latimer.training.plugins import make_callbacks
from latimer.training.run_folder import read_json, write_config, write_json
from latimer.training.saved_state import SavedState, newest_state
from latimer.training.trainer import PRECISIONS

RUN_PAGE = "run.md"
WITHOUT_RESULT = {TRANSLATIONS, REFERENCES, REPORT}
"""What an evaluation leaves that was killed before its result was written."""


@dataclass(frozen=True)
class Resumed:
    """What a run that goes on has beyond a new one.

    Attributes:
        folder: the run's.
        config: that of the run, as if it had never stopped.
        state: what it goes on from.
        reset: what it forgets: "optimizer", "schedule".
    """

    folder: Path
    config: RunConfig
    state: SavedState
    reset: list[str]

    @classmethod
    def newest(cls, config: RunConfig, screen: Screen) -> Self:
        """The run in the folder ``config.resume``, from its newest state.

        Raises:
            LatimerError: it has none.
        """
        folder = Path(config.resume or "")
        return cls._from(newest_state(folder, screen), config, folder)

    @classmethod
    def shared(cls, config: RunConfig) -> Self:
        """What another process of the run has found, from its :attr:`to_share`."""
        path = Path(config.resume or "")
        return cls._from(SavedState.read(path), config, path.parents[1])

    @classmethod
    def _from(cls, state: SavedState, config: RunConfig, folder: Path) -> Self:
        kept = config.model_copy(update={"resume": None, "resume_reset": []})
        # A state can be older than a reset, if those after it are lost.
        former, now = state.about["config"], kept.model_dump(mode="json")
        implied = [name for name in ("optimizer", "schedule") if former[name] != now[name]]
        return cls(folder, kept, state, sorted({*config.resume_reset, *implied}))

    @property
    def to_share(self) -> RunConfig:
        """The configuration, with the file of the state and what is to be forgotten."""
        request = {"resume": str(self.state.path), "resume_reset": self.reset}
        return self.config.model_copy(update=request)

    def check(self, hardware: Hardware, corpus: PreparedCorpus, updates_per_epoch: int) -> None:
        """Raises LatimerError if the run can't go on exactly, or has ended."""
        self._require_same_precision(hardware)
        self._require_same_weights()
        self._require_same_data(corpus)
        if (self.folder / RUN_PAGE).is_file():
            reached = reached_limit(self.state, self.config, updates_per_epoch)
            if reached:
                raise LatimerError(f"resume={self.folder}: {reached}")

    def describe(self, hardware: Hardware) -> Iterator[str]:
        """What a person should know of it, line by line."""
        yield f"goes on      after update {self.state.updates:,}, from {self.state.path}"
        if self.reset:
            yield f"forgets      {' and '.join(self.reset)}, as they were until now"
        before = read_json(self.folder / "environment.json")["hardware"]
        if before != hardware.description:
            yield f"note: it began on {before}; elsewhere, sums can differ in their last bits"

    def write_down(self, environment: Mapping[str, Any]) -> dict[str, Any]:
        """Notes in ``config.yaml`` what has changed, and in ``environment.json`` that it goes on.

        Returns:
            The content of the latter: what the run began with, and "resumed", a list.
        """
        request = {"resume": str(self.folder), "resume_reset": self.reset} if self.reset else {}
        # Until it is done, so that it isn't forgotten should the run be killed before.
        write_config(self.config.model_copy(update=request), self.folder)
        path = self.folder / "environment.json"
        before = read_json(path)
        again = {"after_update": self.state.updates, **environment}
        whole: dict[str, Any] = {**before, "resumed": [*before.get("resumed", []), again]}
        write_json(whole, path)
        return whole

    def join(self, trainer: pl.Trainer, training: TrainingLoader) -> None:
        """Has a trainer go on from the state; ``trainer.fit`` is to be given its path, too."""
        training.load_state_dict(self.state.about["position"])
        go_on_from(trainer.loggers, self.state.first_to_come)
        trainer.callbacks.append(  # type: ignore[attr-defined]
            GoingOn(
                self.state,
                self.reset,
                last=self.folder / "checkpoints" / "last.ckpt",
                forgotten=partial(write_config, self.config, self.folder),
            )
        )

    def _require_same_precision(self, hardware: Hardware) -> None:
        names = {lightning: ours for ours, lightning in PRECISIONS.items()}
        stored = names[self.state.about["precision"]]
        if hardware.precision != stored:
            raise LatimerError(
                f"resume={self.folder}: it was computed in {stored}, and here it would go on in "
                f"{hardware.precision}; write trainer.precision={stored}"
            )

    def _require_same_weights(self) -> None:
        """The only callback of other libraries without which the weights would be others."""
        callbacks = make_callbacks(self.config.callbacks)
        averages = any(isinstance(one, WeightAveraging) for one in callbacks)
        if averages != self.state.averages:
            advice = "leave it away" if averages else "it can't be left away"
            raise LatimerError(
                f"resume={self.folder}: callbacks: the run began "
                f"{'without' if averages else 'with'} an average of its weights "
                f"(WeightAveraging); {advice}"
            )

    def _require_same_data(self, corpus: PreparedCorpus) -> None:
        stored, now = read_json(self.folder / "data.json"), corpus.report
        before, texts = stored["fingerprints"], now["fingerprints"]
        changed = [
            f"the {name} split has other pairs"
            for name in {**before, **texts}
            if before.get(name) != texts.get(name)
        ]
        if not changed and stored["train"]["kept"] != now["train"]["kept"]:
            changed = [f"of the same text, {now['train']['kept']:,} pairs are left to train on"]
        for name, digest in corpus.tokenizers.hashes.items():
            if not changed and self.state.about.get(name) != digest:
                changed = [f"the {name.removesuffix('_sha256')} is not the one that it has"]
        if changed:
            raise LatimerError(
                f"resume={self.folder}: the data are not those that it began with: "
                f"{'; '.join(changed)}. A new run can begin with its weights: "
                f"init_from={self.folder}"
            )


def tidy(run: Path, state: SavedState) -> None:
    """Removes what a killed process left half done, and what was true of later updates only."""
    for leftover in run.rglob(".*.part"):
        leftover.unlink()
    (run / RUN_PAGE).unlink(missing_ok=True)
    for path in (run / "samples").glob("update_*.txt"):
        if int(path.stem.removeprefix("update_")) >= state.first_to_come:
            path.unlink()
    for folder in (run / "evaluation").glob("*"):
        if folder.is_dir() and {path.name for path in folder.iterdir()} <= WITHOUT_RESULT:
            shutil.rmtree(folder)
    _end_line(run / "train.log")


def _end_line(log: Path) -> None:
    """A killed process may have left a line without its end."""
    with log.open("a+b") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read() != b"\n":
                file.write(b"\n")
