"""Which states of a run are kept: the newest ones, and the best one by a validation score."""

from pathlib import Path
from typing import Any, cast

import pytorch_lightning as pl
from lightning_fabric.plugins.io.checkpoint_io import CheckpointIO
from pytorch_lightning.trainer.states import TrainerFn

from latimer import __version__
from latimer.checkpoint import FORMAT, read_checkpoint, write_checkpoint
from latimer.config.run import RunConfig
from latimer.tokenizer import Tokenizers
from latimer.training import tags
from latimer.training.task import TranslationTask

LOWER_IS_BETTER = (tags.VAL_NLL, tags.VAL_PERPLEXITY)


class SafeCheckpointIO(CheckpointIO):
    """Has Lightning write and read its checkpoints through our own door."""

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None
    ) -> None:
        """Writes aside, then renames."""
        write_checkpoint(checkpoint, Path(path))

    def load_checkpoint(
        self, path: Any, map_location: Any = None, weights_only: bool | None = None
    ) -> dict[str, Any]:
        """Never runs code that a file holds, whatever Lightning asks for."""
        return read_checkpoint(Path(path))

    def remove_checkpoint(self, path: Any) -> None:
        """Deletes one file."""
        Path(path).unlink(missing_ok=True)


class Checkpoints(pl.Callback):
    """After each validation: ``last.ckpt``, and ``best.ckpt`` if the score was the best so far.

    They are written after the validation whose scores they carry, so the best file's weights are
    those that earned its score. The newest ``checkpoints.average`` states, every so many updates,
    are kept as ``step_<updates>.ckpt`` too, to be averaged when the training ends.
    """

    def __init__(self, *, folder: Path, tokenizers: Tokenizers, config: RunConfig) -> None:
        self.folder = folder
        self.scores: dict[str, float] = {}
        self.scored_update: int | None = None
        self.best_score: float | None = None
        self.best_update: int | None = None
        self._tokenizers = tokenizers
        self._config = config

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_arguments: Any
    ) -> None:
        """Writes a ``step_*.ckpt`` when it is time for one, and forgets the oldest."""
        wanted = self._config.checkpoints
        if wanted.average and trainer.global_step % wanted.every_updates == 0:
            trainer.save_checkpoint(self.folder / f"step_{trainer.global_step:07}.ckpt")
            for path in self.newest()[: -wanted.average]:
                path.unlink()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Writes the files, during a training."""
        if trainer.state.fn != TrainerFn.FITTING:
            return
        # Not from Lightning, which keeps metrics in float32.
        self.scores = dict(cast(TranslationTask, pl_module).validation_scores)
        self.scored_update = trainer.global_step
        score = self.scores[self.monitor]
        improved = self.is_better(score, self.best_score)
        if improved:
            self.best_score, self.best_update = score, trainer.global_step
        trainer.save_checkpoint(self.folder / "last.ckpt")
        if improved:
            trainer.save_checkpoint(self.folder / "best.ckpt")

    @property
    def monitor(self) -> str:
        """The tag of the score that "best" means."""
        return self._config.checkpoints.monitor

    def is_better(self, score: float, than: float | None) -> bool:
        """Compares two values of the monitored metric, in the metric's own direction."""
        if than is None:
            return True
        if self.monitor in LOWER_IS_BETTER:
            return score < than
        return score > than

    def newest(self) -> list[Path]:
        """The files that are to be averaged, oldest first."""
        return sorted(self.folder.glob("step_*.ckpt"))

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Adds what makes the file enough by itself: no data and no configuration are needed."""
        assert isinstance(pl_module, TranslationTask)
        checkpoint["latimer"] = {
            "format": FORMAT,
            "version": __version__,
            "hyperparameters": dict(pl_module.model.hyperparameters),
            **{name: one.model_bytes for name, one in self._tokenizers.named.items()},
            **self._tokenizers.hashes,
            "source_language": self._config.data.source_language,
            "target_language": self._config.data.target_language,
            "updates": trainer.global_step,
            # Those of an earlier validation were earned by other weights.
            "scores": dict(self.scores) if self.scored_update == trainer.global_step else {},
            "config": self._config.model_dump(mode="json"),
        }

    def state_dict(self) -> dict[str, Any]:
        """The best score so far, for a run that goes on."""
        return {"best_score": self.best_score, "best_update": self.best_update}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a stored best score."""
        self.best_score = state_dict["best_score"]
        self.best_update = state_dict["best_update"]
