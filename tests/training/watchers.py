"""Callbacks of a user, named by ``_target_`` in the tests: they do harm at a chosen update."""

import math
import os

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
