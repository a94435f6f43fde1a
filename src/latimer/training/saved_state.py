"""The states that a run can go on from, and which of them is the newest one that is whole."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from latimer.checkpoint import DamagedCheckpointError, read_checkpoint
from latimer.errors import LatimerError
from latimer.screen import Screen

PATTERNS = ("last.ckpt", "step_*.ckpt", "best*.ckpt")


@dataclass(frozen=True)
class SavedState:
    """A state of a training, as a checkpoint holds it.

    Attributes:
        path: the file.
        about: the part of it that is ours.
        callbacks: the states of all callbacks, by Lightning's names for them.
        averages: whether its weights are the average that a callback makes of the trained ones.
    """

    path: Path
    about: dict[str, Any]
    callbacks: dict[str, dict[str, Any]]
    averages: bool

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads what a checkpoint says of itself.

        Raises:
            LatimerError: it is damaged, or was not written to go on from.
        """
        contents = read_checkpoint(path)
        about = contents["latimer"]
        if "random_states" not in about:
            raise LatimerError(
                f"{path}: made by latimer {about.get('version')}, whose runs could not go on; a "
                f"new run can begin with its weights: init_from={path}"
            )
        return cls(path, about, contents["callbacks"], "current_model_state" in contents)

    @property
    def updates(self) -> int:
        """Optimizer updates behind it."""
        return int(self.about["updates"])

    @property
    def epoch(self) -> int:
        """Whole passes over the training split."""
        return int(self.about["position"]["epoch"])

    @property
    def done(self) -> int:
        """Updates of the pass after those."""
        return int(self.about["position"]["updates_done"])

    @property
    def validated(self) -> bool:
        """Whether the validation after its last update, if one was due, is a part of it."""
        return bool(self.about["scores"])

    @property
    def first_to_come(self) -> int:
        """The first update of which not everything has been told: curves, samples."""
        return self.updates + self.validated

    @property
    def seconds(self) -> float:
        """How long it was trained, validations included and stops left out."""
        return float(self.callbacks["Stopwatch"]["time_elapsed"]["train"])

    @property
    def validations_since_best(self) -> int:
        """How often it was validated since its best score."""
        return int(self.callbacks["Checkpoints"]["validations_since_best"])

    @property
    def age(self) -> tuple[int, bool, bool]:
        """Greater for what is newer; the file that is written first counts among equals."""
        return self.updates, self.validated, self.path.name == "last.ckpt"


def newest_state(run: Path, screen: Screen) -> SavedState:
    """The newest state of a run whose file is whole.

    A damaged file that is found on the way is told of, and gets another name: it must be in the way
    of neither this run nor the average at its end.

    Raises:
        LatimerError: there is none.
    """
    folder = run / "checkpoints"
    paths = sorted({path for pattern in PATTERNS for path in folder.glob(pattern)})
    states, complaints = [], []
    for path in paths:
        try:
            states.append(SavedState.read(path))
        except DamagedCheckpointError:
            complaints.append(_set_aside(path))
        except LatimerError as error:
            complaints.append(str(error))
    if not states:
        raise LatimerError(_nothing_saved(run, complaints))
    for complaint in complaints:
        screen.print(f"warning: {complaint}")
    return max(states, key=lambda state: state.age)


def _set_aside(path: Path) -> str:
    aside = path.with_name(f"{path.name}.damaged")
    path.replace(aside)
    return f"{path}: this checkpoint is damaged, and now called {aside.name}"


def _nothing_saved(run: Path, complaints: list[str]) -> str:
    again = f"begin again in its folder: run_folder={run} mode=overwrite"
    if complaints:
        return "\n  ".join([f"resume={run}: no state of it can be read; {again}", *complaints])
    return f"resume={run}: it was stopped before its first state was saved; {again}"
