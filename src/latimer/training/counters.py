"""Lightning's counters of a training that goes on.

A checkpoint holds the counters of the moment at which it was written: in the midst of an update's
hooks, in a validation, at the end of an epoch. Lightning guesses the moment from them, and then may
leave a validation out, or count an update or an epoch twice. Here they are set from what is known
for certain: the updates behind the state, and its position in the training data. They are then
those of a training that stands between two updates with nothing half done.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
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

    It is called just before the first update that follows: only then it is known whether
    Lightning's loop turns once without an update, which counts. It does so in the midst of an
    epoch, in place of a validation that it takes for done.
    """
    loop = trainer.fit_loop.epoch_loop
    idle_turn = loop.restarting and updates % int(trainer.val_check_interval) == 0
    loop._batches_that_stepped = updates - idle_turn


def validate_now(trainer: pl.Trainer, *, updates: int, done: int) -> None:
    """Runs the validation that follows an update, as Lightning does.

    Args:
        trainer: whose training begins.
        updates: as in :func:`settle`.
        done: likewise; 0 if that update was the last one of its pass.
    """
    loop, connector = trainer.fit_loop.epoch_loop, trainer._logger_connector
    first_turn = connector._first_loop_iter
    loop._batches_that_stepped = updates - 1  # an update counts when this is over, and a pass, too
    with _unfinished_pass(trainer) if done == 0 else nullcontext():
        trainer.validating = True
        loop.val_loop.run()
        trainer.training = True
    connector._first_loop_iter = first_turn


@contextmanager
def _unfinished_pass(trainer: pl.Trainer) -> Iterator[None]:
    """Counts the last pass as one whose updates are done, but not yet what follows them."""
    epochs, batches = trainer.fit_loop.epoch_progress, trainer.fit_loop.epoch_loop.batch_progress
    settled = epochs.state_dict(), batches.state_dict()
    one_less = {"processed": settled[0]["total"]["processed"] - 1}
    one_less["completed"] = one_less["processed"]
    epochs.load_state_dict({name: {**counts, **one_less} for name, counts in settled[0].items()})
    batches.load_state_dict(
        {
            **settled[1],
            "current": _tracker(int(trainer.num_training_batches)),
            "is_last_batch": True,
        }
    )
    yield
    epochs.load_state_dict(settled[0])
    batches.load_state_dict(settled[1])


def _batches(*, total: int, current: int) -> dict[str, Any]:
    return {"total": _tracker(total), "current": _tracker(current), "is_last_batch": False}


def _tracker(count: int) -> dict[str, int]:
    return dict.fromkeys(("ready", "started", "processed", "completed"), count)
