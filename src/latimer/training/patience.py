"""How a training ends when it no longer gets better (early stopping)."""

import pytorch_lightning as pl
from pytorch_lightning.trainer.states import TrainerFn

from latimer.screen import Screen
from latimer.training.best import BestStates


class Patience(pl.Callback):
    """Ends a training after ``validation.patience`` validations without a better score.

    It counts validations, not epochs, whole ones and in float64; the count is part of the saved
    state (:class:`~latimer.training.checkpoints.Checkpoints`).

    Args:
        best: the validations so far, brought up to date before this callback is asked.
        patience: validations; None never ends a training.
        screen: where the end is told.
    """

    def __init__(self, best: BestStates, patience: int | None, screen: Screen) -> None:
        self._best = best
        self._patience = patience
        self._screen = screen

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """A run that goes on may have ended so, and have only its last files left to write."""
        if self._is_at_an_end():
            trainer.should_stop = True

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Ends the training, if it is one."""
        if trainer.state.fn == TrainerFn.FITTING and self._is_at_an_end():
            trainer.should_stop = True
            self._screen.print(
                f"validation.patience={self._patience}: {self._what_happened()}; the training ends "
                f"at update {trainer.global_step:,}"
            )

    def _is_at_an_end(self) -> bool:
        return self._patience is not None and self._best.validations_since_best >= self._patience

    def _what_happened(self) -> str:
        monitor, count = self._best.monitor, self._best.validations_since_best
        best = self._best.best
        than = f" than {best.scores[monitor]:.4f} of update {best.update:,}" if best else ""
        validations = "validation" if count == 1 else "validations"
        return f"no better {monitor}{than} in {count} {validations}"
