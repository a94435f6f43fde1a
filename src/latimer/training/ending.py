"""How a training ends: at a limit, after its last validation, or by a signal."""

import os
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.trainer.states import TrainerFn

from latimer.errors import LatimerError
from latimer.screen import Screen


@contextmanager
def noted_failure(screen: Screen) -> Iterator[None]:
    """Leaves the reason why a run failed in its log; who shows it is somebody else's matter."""
    try:
        yield
    except LatimerError as error:
        screen.note(f"error: {error}")
        raise
    except Exception:
        screen.note(traceback.format_exc())
        raise


class ValidateAtTheEnd(pl.Callback):
    """Asks for a last validation when the last update is done, so that no run ends unmeasured."""

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_arguments: Any
    ) -> None:
        """Lightning validates once more when a run is told to stop, but not at its own limits."""
        if trainer.global_step == trainer.max_steps:
            trainer.should_stop = True


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

    The exit code is 128 + the signal's number, as shells and schedulers expect: 130 and 143.
    """

    def __init__(self, checkpoint: Path, screen: Screen) -> None:
        self._checkpoint = checkpoint
        self._screen = screen
        self._received: int | None = None
        self._former: dict[int, Any] = {}

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        """Listens from now on."""
        for number in (signal.SIGINT, signal.SIGTERM):
            self._former[number] = signal.signal(number, self._receive)

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

    def _leave_if_asked(self, trainer: pl.Trainer) -> None:
        if self._received is None:
            return
        # What is validated after a training is an average, and no state of it.
        if trainer.state.fn == TrainerFn.FITTING:
            trainer.save_checkpoint(self._checkpoint)
        name = signal.Signals(self._received).name
        self._screen.print(
            f"stopped by {name} after update {trainer.global_step:,}; "
            f"the state was saved: {self._checkpoint}"
        )
        raise SystemExit(128 + self._received)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._received is not None:
            os._exit(128 + number)
        self._received = number
