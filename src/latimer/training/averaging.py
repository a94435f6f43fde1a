"""The mean of the newest checkpoints, and whether it is better than the best one (section 6.1)."""

from pathlib import Path

import pytorch_lightning as pl
from torch.utils.data import DataLoader

from latimer.checkpoint import average, load_weights, write_checkpoint
from latimer.data.encoded import Batch
from latimer.screen import Screen
from latimer.training.checkpoints import Checkpoints
from latimer.training.task import TranslationTask


def choose_final(
    trainer: pl.Trainer,
    task: TranslationTask,
    validation: DataLoader[list[Batch]],
    screen: Screen,
) -> Path:
    """The checkpoint that a run is judged by: the best one, or the average if that is better.

    The choice is made by the monitored metric on the validation set alone. The average is written
    as ``averaged.ckpt``, with its own scores.
    """
    checkpoints = next(c for c in trainer.callbacks if isinstance(c, Checkpoints))  # type: ignore[attr-defined]
    best = checkpoints.folder / "best.ckpt"
    newest = checkpoints.newest()
    if len(newest) < 2:
        return best
    contents = average(newest)
    task.model.load_state_dict(load_weights(contents))
    updates = ", ".join(f"{update:,}" for update in contents["latimer"]["averaged"])
    screen.print(f"averaging the checkpoints of updates {updates}")
    trainer.validate(task, validation, verbose=False)
    scores = dict(task.validation_scores)
    contents["latimer"]["scores"] = scores
    averaged = checkpoints.folder / "averaged.ckpt"
    write_checkpoint(contents, averaged)
    better = checkpoints.is_better(scores[checkpoints.monitor], checkpoints.best_score)
    return averaged if better else best
