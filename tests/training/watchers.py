"""Callbacks of a user, named by ``_target_`` in the tests: they do harm at a chosen update."""

import math
import os
import shutil
from pathlib import Path

import pytorch_lightning as pl
import torch
from pytorch_lightning.trainer.states import TrainerFn


class PoisonWeights(pl.Callback):
    """Makes a weight not a number before the given update."""

    def __init__(self, update: int) -> None:
        self.update = update

    def on_train_batch_start(self, trainer, pl_module, *_arguments):
        if trainer.global_step + 1 == self.update:
            with torch.no_grad():
                next(pl_module.parameters()).fill_(math.nan)


class PoisonUpdate(PoisonWeights):
    """Makes a weight not a number as if the given update itself had."""

    def on_train_batch_start(self, trainer, pl_module, *_arguments):
        """Nothing yet."""

    def on_train_batch_end(self, trainer, pl_module, *_arguments):
        if trainer.global_step == self.update:
            with torch.no_grad():
                next(pl_module.parameters()).fill_(math.nan)


class PoisonGradient(PoisonWeights):
    """Makes a gradient infinite in the given update, whose loss is still finite."""

    def on_train_batch_start(self, trainer, pl_module, *_arguments):
        """Nothing yet."""

    def on_before_optimizer_step(self, trainer, pl_module, optimizer):
        if trainer.global_step + 1 == self.update:
            next(pl_module.parameters()).grad.fill_(math.inf)


class ForgetPieces(pl.Callback):
    """Makes all pieces the same to the model, before each validation."""

    def on_validation_start(self, trainer, pl_module):
        with torch.no_grad():
            pl_module.model.output.weight.zero_()


class GiveScores(pl.Callback):
    """Puts a BLEU of one's choice in the place of that of the validation after an update."""

    def __init__(self, bleu: dict[int, float]) -> None:
        self.bleu = bleu

    def on_validation_epoch_end(self, trainer, pl_module):
        if trainer.state.fn == TrainerFn.FITTING:
            pl_module.validation_scores["val/bleu"] = self.bleu[trainer.global_step]


class SendSignal(pl.Callback):
    """Sends this process a signal during the given update."""

    def __init__(self, number: int, update: int = 0, times: int = 1) -> None:
        self.number, self.update, self.times = number, update, times

    def on_train_batch_start(self, trainer, pl_module, *_arguments):
        if trainer.global_step + 1 == self.update:
            self.send()

    def send(self):
        for _ in range(self.times):
            os.kill(os.getpid(), self.number)


class SendSignalInValidation(SendSignal):
    """Sends it during the validation after the given update."""

    def on_train_batch_start(self, trainer, pl_module, *_arguments):
        """Nothing yet."""

    def on_validation_start(self, trainer, pl_module):
        if trainer.state.fn == TrainerFn.FITTING and trainer.global_step == self.update:
            self.send()


class SendSignalInTheEnd(SendSignalInValidation):
    """Sends it while the average of the checkpoints is validated."""

    def on_validation_start(self, trainer, pl_module):
        if trainer.state.fn != TrainerFn.FITTING:
            self.send()


class Snapshots(pl.Callback):
    """Copies the run folder at many moments: what a process that is killed then leaves behind."""

    def __init__(self, folder: str, run_folder: str) -> None:
        self.folder, self.run_folder = Path(folder), Path(run_folder)

    def take(self, trainer, moment):
        name = f"{trainer.global_step:02}_{moment}"
        shutil.copytree(self.run_folder, self.folder / name, dirs_exist_ok=True)

    def on_train_batch_start(self, trainer, pl_module, *_arguments):
        self.take(trainer, "after")

    def on_train_batch_end(self, trainer, pl_module, *_arguments):
        self.take(trainer, "unsaved")

    def on_validation_start(self, trainer, pl_module):
        self.take(trainer, "unvalidated" if trainer.state.fn == TrainerFn.FITTING else "averaging")

    def on_validation_end(self, trainer, pl_module):
        self.take(trainer, "scored" if trainer.state.fn == TrainerFn.FITTING else "averaged")

    def on_train_end(self, trainer, pl_module):
        self.take(trainer, "ended")


class PoisonLossOfOne(pl.Callback):
    """Makes the loss of one of several processes not a number, in the given update."""

    def __init__(self, rank: int, update: int) -> None:
        self.rank, self.update = rank, update

    def on_train_batch_start(self, trainer, pl_module, *_arguments):
        if (trainer.global_rank, trainer.global_step + 1) == (self.rank, self.update):
            self._losses, pl_module.losses = pl_module.losses, self._not_finite

    def _not_finite(self, *given):
        losses = self._losses(*given)
        return losses._replace(loss=losses.loss * math.nan)
