"""How a training ends: at a limit, after its last validation, or by a signal."""

import errno
import os
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.trainer.states import TrainerFn

from latimer.config.arguments import as_argument
from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.training.processes import summed

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Those that stop a training so that it can go on later."""


@contextmanager
def noted_failure(screen: Screen, folder: Path) -> Iterator[None]:
    """Leaves the reason why a run failed in its log; who shows it is somebody else's matter.

    Raises:
        LatimerError: the disk of the run's folder is full, whatever was being written.
    """
    try:
        yield
    except LatimerError as error:
        _note(f"error: {error}", screen)
        raise
    except OSError as error:
        _note(traceback.format_exc(), screen)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise LatimerError(
                f"{error.filename or folder}: not written ({error.strerror}); make room, and go on "
                f"with python train.py {as_argument('resume', folder)}"
            ) from error
        raise
    except Exception:
        _note(traceback.format_exc(), screen)
        raise


def _note(text: str, screen: Screen) -> None:
    with suppress(OSError):  # the log may be on the very disk that is full
        screen.note(text)


class ValidateAtTheEnd(pl.Callback):
    """Ends a training after its last update, with a last validation: no run ends unmeasured.

    Lightning validates once more when a run is told to stop, but not at its own limits.

    Args:
        last: the last update; None if something else ends the training.
    """

    def __init__(self, last: int | None) -> None:
        self._last = last

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """A run that goes on may have reached its end already."""
        self._end_if_due(trainer)

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_arguments: Any
    ) -> None:
        """After the last update."""
        self._end_if_due(trainer)

    def _end_if_due(self, trainer: pl.Trainer) -> None:
        if self._last is not None and trainer.global_step >= self._last:
            trainer.should_stop = True


class Stopwatch(pl.callbacks.Timer):
    """Measures how long a run is trained, over all stops, and ends it when its time is up.

    Args:
        limit: "HH:MM:SS" of training, or None.
    """

    def __init__(self, limit: str | None) -> None:
        super().__init__(duration=f"00:{limit}" if limit else None, verbose=False)

    def on_fit_start(self, trainer: pl.Trainer, *_arguments: Any) -> None:
        """Not yet: Lightning would not begin, and leave undone what is due after an update."""

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Starts, unless the time of a run that goes on is up already."""
        super().on_train_start(trainer, pl_module)
        if self._duration is not None:
            self._check_time_remaining(trainer)


def seconds_of_training(trainer: pl.Trainer) -> float:
    """How long a run was trained, validations included, over all its stops."""
    stopwatch = next(one for one in trainer.callbacks if isinstance(one, Stopwatch))  # type: ignore[attr-defined]
    return float(stopwatch.time_elapsed())


@contextmanager
def restored_signals() -> Iterator[None]:
    """Gives SIGINT and SIGTERM back to whom they belonged before, however the block ends.

    After an exception Lightning calls no teardown, and puts handlers back that it has found.
    """
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


class StopOnSignal(pl.Callback):
    """SIGINT or SIGTERM: finish the update, write ``last.ckpt``, leave. A second one: leave now.

    The exit code is 128 + the signal's number, as shells and schedulers expect: 130 and 143. Of
    several processes that train together, all leave after the same update, whoever got the signal.
    """

    def __init__(self, checkpoint: Path, screen: Screen) -> None:
        self._checkpoint = checkpoint
        self._screen = screen
        self._received: int | None = None
        self._former: dict[int, Any] = {}

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        """Listens from now on."""
        self._former = {number: signal.getsignal(number) for number in SIGNALS}
        self._listen()

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Listens alone: Lightning has put a handler of its own before this one.

        It would break off a validation, and exchange messages with other processes at any moment.
        """
        self._listen()

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Likewise, for a validation that is no part of a training."""
        self._listen()

    def teardown(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        """Leaves the signals to whom they belonged before."""
        for number, handler in self._former.items():
            signal.signal(number, handler)
        self._former.clear()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_arguments: Any
    ) -> None:
        """The update is finished: now the run can be left."""
        self._leave_if_asked(trainer)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """A signal that came during a validation takes effect after it."""
        self._leave_if_asked(trainer)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """A signal that came since, or while a run went on that had only its end left."""
        self._leave_if_asked(trainer)

    def _listen(self) -> None:
        for number in SIGNALS:
            signal.signal(number, self._receive)

    def _leave_if_asked(self, trainer: pl.Trainer) -> None:
        received = [float(self._received == number) for number in SIGNALS]
        votes = summed(received, trainer.strategy.root_device)
        if not any(votes):
            return
        number = next(number for number, count in zip(SIGNALS, votes, strict=True) if count)
        # What is validated after a training is an average, and no state of it.
        if trainer.state.fn == TrainerFn.FITTING:
            trainer.save_checkpoint(self._checkpoint)
        self._screen.print(
            f"stopped by {number.name} after update {trainer.global_step:,}; "
            f"the state was saved: {self._checkpoint}\n"
            f"to go on     python train.py {as_argument('resume', self._checkpoint.parents[1])}"
        )
        raise SystemExit(128 + number)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._received is not None:
            os._exit(128 + number)
        self._received = number
