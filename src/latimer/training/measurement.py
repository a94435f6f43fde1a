"""A few updates and a validation of a training, with a watch and a scale beside them."""

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pytorch_lightning as pl
import torch

from latimer.data.encoded import Batch
from latimer.training.memory_estimate import Memory, SavedTensors, peak
from latimer.training.task import TranslationTask

FEWEST_TIMED = 3
LONG_ENOUGH = 10.0  # seconds


@dataclass
class Timed:
    """Updates that were timed together: target pieces, and seconds."""

    updates: int = 0
    pieces: int = 0
    seconds: float = 0.0


class Measurement(pl.Callback):
    """Ends a training when enough of it was measured; must act before all other callbacks.

    The first update, which begins with the largest batch, shows what memory is needed. It also
    warms up, and is timed only where it is the only one.

    Attributes:
        largest: rows, and pieces of the longest source and target, of the first batch.
        memory: what was counted in the first update.
        peak: what was measured, validation included, and of which kind it is.
        likelihood_seconds: of a validation, for the loss on the whole validation set.
        translation_seconds: of a validation, for its translations and their scores.
    """

    def __init__(self) -> None:
        self.largest = (0, 0, 0)
        self.memory = Memory(0, 0, 0, 0)
        self.peak = (0, "")
        self.likelihood_seconds = self.translation_seconds = 0.0
        self._first, self._timed = Timed(), Timed()
        self._since = 0.0
        self._saved: SavedTensors | None = None
        self._counting: AbstractContextManager[None] | None = None

    @property
    def timed(self) -> Timed:
        """The updates whose pace counts."""
        return self._timed if self._timed.updates else self._first

    def on_train_batch_start(
        self,
        trainer: pl.Trainer,
        pl_module: pl.LightningModule,
        batch: list[Batch],
        batch_idx: int,
    ) -> None:
        """Begins to count and to time with the first batch."""
        if self._saved is None:
            rows, source = batch[0].source.shape
            self.largest = (rows, source, batch[0].labels.shape[1])
            self._saved = SavedTensors(pl_module.parameters())
            self._counting = self._saved.counted()
            self._counting.__enter__()
            self._since = time.perf_counter()

    def on_before_backward(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, loss: torch.Tensor
    ) -> None:
        """Now all is there that the first backward pass needs."""
        if self._counting is not None:
            self._counting.__exit__(None, None, None)
            self._counting = None

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_arguments: object
    ) -> None:
        """Times the update; asks for the end when enough of them were."""
        assert isinstance(pl_module, TranslationTask)
        if self._first.updates == 0:
            assert self._saved is not None
            optimizer = trainer.optimizers[0]
            self.memory = Memory.after_update(pl_module.model, optimizer, self._saved.size)
        timed = self._timed if self._first.updates else self._first
        timed.updates += 1
        timed.pieces += pl_module.statistics.tokens
        timed.seconds += self._lap(trainer)
        if self._timed.updates >= FEWEST_TIMED and self._timed.seconds >= LONG_ENOUGH:
            trainer.should_stop = True

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Times the validation from here."""
        self._lap(trainer)

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """The loss is summed up; what follows are the translations."""
        self.likelihood_seconds = self._lap(trainer)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """The validation is over, and with it the measurement."""
        self.translation_seconds = self._lap(trainer)
        self.peak = peak(trainer.strategy.root_device)

    def _lap(self, trainer: pl.Trainer) -> float:
        """Seconds since the last call, the work of the device included."""
        if trainer.strategy.root_device.type == "cuda":
            torch.cuda.synchronize()
        before, self._since = self._since, time.perf_counter()
        return self._since - before
