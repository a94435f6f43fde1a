"""The mean of some checkpoints, and whether it is better than the best one (section 6.1)."""

from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import WeightAveraging
from torch.utils.data import DataLoader

from latimer.checkpoint import (
    AVERAGED,
    average,
    load_weights,
    read_checkpoint,
    write_checkpoint,
    write_final,
)
from latimer.data.encoded import Batch
from latimer.screen import Screen
from latimer.training.best import ScoredState
from latimer.training.checkpoints import Checkpoints
from latimer.training.score_table import HEADER, score_rows
from latimer.training.task import TranslationTask


def choose_final(
    trainer: pl.Trainer,
    task: TranslationTask,
    validation: DataLoader[list[Batch]],
    screen: Screen,
) -> Path:
    """The checkpoint that a run is judged by: the best one, or an average if that is better.

    The choice is made by the monitored metric on the validation set alone. The average is written
    as ``averaged.ckpt``, with its own scores; both are shown, and the choice is noted for those
    who name the run folder as a checkpoint.
    """
    checkpoints = next(c for c in trainer.callbacks if isinstance(c, Checkpoints))  # type: ignore[attr-defined]
    best = checkpoints.files.best
    averaged = checkpoints.folder / AVERAGED
    paths = checkpoints.to_be_averaged()
    if len(paths) < 2:
        return best
    contents = average(paths)
    updates = ", ".join(f"{update:,}" for update in contents["latimer"]["averaged"])
    screen.print(f"averaging the checkpoints of updates {updates}")
    scores = contents["latimer"]["scores"] = _validate(trainer, task, validation, contents)
    better = checkpoints.best.is_better(
        ScoredState(contents["latimer"]["updates"], scores), checkpoints.best.best
    )
    final = averaged if better else best
    both = {best.name: read_checkpoint(best)["latimer"]["scores"], averaged.name: scores}
    if trainer.is_global_zero:
        write_checkpoint(contents, averaged)
        write_final(checkpoints.folder, final.name, both)
    trainer.strategy.barrier("final checkpoint chosen")
    screen.table("validation", HEADER, score_rows(both, final.name))
    screen.print(f"taken: {final.name}, by {checkpoints.best.monitor} on the validation set")
    return final


def _validate(
    trainer: pl.Trainer,
    task: TranslationTask,
    validation: DataLoader[list[Batch]],
    contents: dict[str, Any],
) -> dict[str, float]:
    """The scores of the weights in these contents."""
    # Such a callback would validate its own weights in the place of these.
    others = [c for c in trainer.callbacks if not isinstance(c, WeightAveraging)]  # type: ignore[attr-defined]
    trainer.callbacks = others  # type: ignore[attr-defined]
    task.model.load_state_dict(load_weights(contents))
    trainer.validate(task, validation, verbose=False)
    return dict(task.validation_scores)
