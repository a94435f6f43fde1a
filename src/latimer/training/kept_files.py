"""The files of a run's states: ``last``, ``best``, ``best_<updates>`` and ``step_<updates>``."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from latimer.checkpoint import AVERAGED, BEST, FINAL, name_too, read_checkpoint
from latimer.config.training import CheckpointsConfig
from latimer.errors import LatimerError
from latimer.training.best import ScoredState


class KeptFiles:
    """Which files a run's checkpoints folder holds.

    Each state is written once, as ``last.ckpt``; its other names are given to it afterwards. So
    ``last.ckpt`` is never older than any of them, whenever the run is killed.
    """

    def __init__(self, folder: Path, wanted: CheckpointsConfig) -> None:
        self.folder = folder
        self.last = folder / "last.ckpt"
        self.best = folder / BEST
        self._wanted = wanted

    def newest(self) -> list[Path]:
        """The ``step_*.ckpt`` files, oldest first."""
        return sorted(self.folder.glob("step_*.ckpt"))

    def step_is_due(self, update: int) -> bool:
        """Whether the state after this update gets a ``step_*.ckpt``."""
        return bool(self._wanted.newest) and update % self._wanted.every_updates == 0

    def keep_step(self, update: int) -> None:
        """Keeps ``last.ckpt`` as one of the newest states, and forgets the oldest."""
        name_too(self.last, self._step(update))
        self._forget_steps()

    def names(self, states: Sequence[ScoredState]) -> dict[Path, ScoredState]:
        """What is to be found where, if these states are the best ones, best first."""
        several = states if self._wanted.best > 1 else []
        names = {self.folder / f"best_{state.update:07}.ckpt": state for state in several}
        return names | dict(zip([self.best], states, strict=False))

    def keep_best(self, states: Sequence[ScoredState], newest: ScoredState) -> None:
        """Keeps ``last.ckpt``, which holds the ``newest`` state, if that is one of the best."""
        names = self.names(states)
        for name, state in names.items():
            if state == newest:
                name_too(self.last, name)
        self._forget_best(names)

    def match(
        self, update: int, states: Sequence[ScoredState], came_from: Path | None
    ) -> list[ScoredState]:
        """Makes the files those of a run that goes on after ``update`` with these best states.

        A run can have been killed between two of its files. What belongs to later updates, or to
        the end of the training, is no longer true.

        Args:
            update: the newest one; 0 for a new run.
            states: the best states of the run, best first.
            came_from: the file that the run goes on from.

        Returns:
            The best states that there are files of.
        """
        for path in (self.folder / FINAL, self.folder / AVERAGED, *self.folder.glob(".*.part")):
            path.unlink(missing_ok=True)
        if came_from and came_from != self.last and came_from.parent == self.folder:
            name_too(came_from, self.last)
        for path in self.newest():
            if path > self._step(update):
                path.unlink()
        missing = self.step_is_due(update) and not self._step(update).exists()
        if missing and _about(self.last).get("updates") == update:
            name_too(self.last, self._step(update))
        self._forget_steps()
        there = [state for state in states if self._find(state)]
        names = self.names(there)
        for name, state in names.items():
            found = self._find(state)
            if found and not _holds(name, state):
                name_too(found, name)
        self._forget_best(names)
        return there

    def _step(self, update: int) -> Path:
        return self.folder / f"step_{update:07}.ckpt"

    def _forget_steps(self) -> None:
        paths = self.newest()
        for path in paths[: max(0, len(paths) - self._wanted.newest)]:
            path.unlink()

    def _find(self, state: ScoredState) -> Path | None:
        """A file that holds a state with its scores."""
        places = [*self.folder.glob("best*.ckpt"), self.last]
        return next((path for path in places if _holds(path, state)), None)

    def _forget_best(self, names: Iterable[Path]) -> None:
        for path in set(self.folder.glob("best_*.ckpt")) - set(names):
            path.unlink()


def _holds(path: Path, state: ScoredState) -> bool:
    about = _about(path)
    return about.get("updates") == state.update and about.get("scores") == state.scores


def _about(path: Path) -> dict[str, Any]:
    """What a file says of itself; nothing if there is none that can be read."""
    try:
        about: dict[str, Any] = read_checkpoint(path)["latimer"]
    except LatimerError:
        return {}
    return about
