"""Lightning's counters of a training that goes on.

A checkpoint holds the counters of the moment at which it was written: in the midst of an update's
hooks, in a validation, at the end of an epoch. Lightning guesses the moment from them, and then may
leave a validation out, or count an update or an epoch twice. Here they are set from what is known
for certain: the updates behind the state, and its position in the training data. They are then
those of a training that stands between two updates with nothing half done.
"""

from typing import Any

import pytorch_lightning as pl


def settle(loops: dict[str, Any], *, updates: int, epoch: int, done: int) -> None:
    """Changes the counters in a checkpoint, before Lightning reads them.

    Args:
        loops: the checkpoint's entry of that name.
        updates: optimizer updates behind the state.
        epoch: whole passes over the training split.
        done: updates of the pass after those.
    """
    fit_loop = loops["fit_loop"]
    begun = epoch + (done > 0)
    epochs = {"ready": begun, "started": begun, "processed": epoch, "completed": epoch}
    fit_loop["epoch_progress"] = {"total": epochs, "current": epochs}
    fit_loop["epoch_loop.batch_progress"] = _batches(total=updates, current=done)
    fit_loop["epoch_loop.val_loop.batch_progress"] = _batches(total=0, current=0)


def count_loggings(trainer: pl.Trainer, updates: int) -> None:
    """Sets the counter by which Lightning itself, and callbacks of it, log.

    It is called when the training starts: only then it is known whether Lightning's loop first
    turns once without an update, which counts. It does so in the midst of an epoch, in place of a
    validation that it takes for done.
    """
    loop = trainer.fit_loop.epoch_loop
    idle_turn = loop.restarting and updates % int(trainer.val_check_interval) == 0
    loop._batches_that_stepped = updates - idle_turn


def validate_now(trainer: pl.Trainer) -> None:
    """Runs a validation of the training, as Lightning does after an update."""
    connector = trainer._logger_connector
    first_turn = connector._first_loop_iter
    trainer.validating = True
    trainer.fit_loop.epoch_loop.val_loop.run()
    trainer.training = True
    connector._first_loop_iter = first_turn


def _batches(*, total: int, current: int) -> dict[str, Any]:
    return {"total": _tracker(total), "current": _tracker(current), "is_last_batch": False}


def _tracker(count: int) -> dict[str, int]:
    return dict.fromkeys(("ready", "started", "processed", "completed"), count)
