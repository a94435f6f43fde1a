"""Goes on from a saved state, bit for bit on a CPU: what Lightning's own loading leaves out."""

from collections.abc import Callable, Collection
from typing import Any, cast

import pytorch_lightning as pl
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR
from torch.utils._pytree import tree_map_only

from latimer.training import counters, random_states
from latimer.training.recorder import Recorder
from latimer.training.saved_state import SavedState


class GoingOn(pl.Callback):
    """Puts a training into the place at which its state was saved. It must be the last callback.

    Lightning loads weights, optimizer, schedule and the states of the callbacks. Here follow the
    counters of its loops, the random states, and the validation that was due after the last
    update and had not been done.

    Args:
        state: what to go on from; ``trainer.fit`` is given its path.
        reset: what to forget: "optimizer", "schedule".
        last: the file of the newest state.
        forgotten: called when a state has been saved that has forgotten it.
    """

    def __init__(
        self,
        state: SavedState,
        reset: Collection[str],
        last: Any,
        forgotten: Callable[[], None],
    ) -> None:
        self._state = state
        self._reset = reset
        self._last = last
        self._forgotten = forgotten

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Changes what Lightning is about to load of the counters, the optimizer and its rate."""
        state = self._state
        counters.settle(
            checkpoint["loops"], updates=state.updates, epoch=state.epoch, done=state.done
        )
        # The tensors of a file that is mapped into memory would be the optimizer's own.
        states = tree_map_only(Tensor, Tensor.clone, checkpoint["optimizer_states"])
        checkpoint["optimizer_states"] = [] if "optimizer" in self._reset else states
        if self._reset:
            checkpoint["lr_schedulers"] = [
                {"lr_lambdas": [], "last_epoch": done, "_step_count": done + 1}
                for done in self._updates_of_schedule(checkpoint["lr_schedulers"])
            ]

    def _updates_of_schedule(self, stored: list[dict[str, Any]]) -> list[int]:
        return [0 if "schedule" in self._reset else state["last_epoch"] for state in stored]

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """All is loaded and nothing has happened yet."""
        random_states.restore(self._state.about["random_states"][trainer.global_rank])
        if self._reset:
            _set_rates(cast(LambdaLR, pl_module.lr_schedulers()))
            trainer.save_checkpoint(self._last)
            if trainer.is_global_zero:
                self._forgotten()
        if not self._state.validated:
            _recorder(trainer).log_again(trainer)
            if self._validation_is_due(trainer):
                counters.validate_now(trainer, updates=self._state.updates, done=self._state.done)
        counters.count_loggings(trainer, self._state.updates)

    def _validation_is_due(self, trainer: pl.Trainer) -> bool:
        """As after an update: at the interval, and where the training ends."""
        interval = int(trainer.val_check_interval)
        return trainer.should_stop or self._state.updates % interval == 0


def _set_rates(scheduler: LambdaLR) -> None:
    """Gives an optimizer the rates of a schedule, where only one of the two was loaded."""
    rates = [
        base * factor(scheduler.last_epoch)
        for base, factor in zip(scheduler.base_lrs, scheduler.lr_lambdas, strict=True)
    ]
    scheduler._last_lr = rates
    for group, rate in zip(scheduler.optimizer.param_groups, rates, strict=True):
        group["lr"] = rate


def _recorder(trainer: pl.Trainer) -> Recorder:
    return next(one for one in trainer.callbacks if isinstance(one, Recorder))  # type: ignore[attr-defined]
