"""Which states of a run are kept: the newest ones, and the best ones by a validation score."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytorch_lightning as pl
from lightning_fabric.plugins.io.checkpoint_io import CheckpointIO
from pytorch_lightning.trainer.states import TrainerFn

from latimer import __version__
from latimer.checkpoint import FORMAT, read_checkpoint, write_checkpoint
from latimer.config.run import RunConfig
from latimer.data.loaders import TrainingLoader
from latimer.tokenizer import Tokenizers
from latimer.training.best import BestStates, ScoredState
from latimer.training.kept_files import KeptFiles
from latimer.training.processes import gather
from latimer.training.random_states import random_states
from latimer.training.task import TranslationTask


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
    """Saves states while a model is trained: the newest, the best, and some to be averaged.

    ``last.ckpt`` is written after each validation and every ``checkpoints.every_updates`` updates.
    A state that is kept longer has another name too: ``step_<updates>.ckpt`` the newest
    ``checkpoints.newest`` ones, ``best.ckpt`` the one with the best score, and with more than one
    best state (``checkpoints.best``) each of them ``best_<updates>.ckpt``. The best ones are saved
    after the validation whose scores they carry, so their weights are those that earned them.
    """

    def __init__(self, *, folder: Path, tokenizers: Tokenizers, config: RunConfig) -> None:
        self.folder = folder
        self.files = KeptFiles(folder, config.checkpoints)
        self.best = BestStates(config.checkpoints.monitor, config.checkpoints.best)
        self.validated: ScoredState | None = None
        self._tokenizers = tokenizers
        self._config = config

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Makes the files agree with the state that a run goes on from."""
        states = self.best.states
        if trainer.is_global_zero:
            came_from = Path(trainer.ckpt_path) if trainer.ckpt_path else None
            states = self.files.match(trainer.global_step, states, came_from)
        self.best.states = trainer.strategy.broadcast(states)

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_arguments: Any
    ) -> None:
        """Saves a ``step_*.ckpt`` when it is time for one."""
        if self.files.step_is_due(trainer.global_step):
            self._save(trainer, lambda: self.files.keep_step(trainer.global_step))

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Saves what was validated, during a training."""
        if trainer.state.fn != TrainerFn.FITTING:
            return
        # Not from Lightning, which keeps metrics in float32.
        scores = dict(cast(TranslationTask, pl_module).validation_scores)
        validated = self.validated = ScoredState(trainer.global_step, scores)
        self.best.add(validated)
        self._save(trainer, lambda: self.files.keep_best(self.best.states, validated))

    def to_be_averaged(self) -> list[Path]:
        """The files that ``checkpoints.average`` means, oldest first."""
        if self._config.checkpoints.average == "newest":
            return self.files.newest()
        if self._config.checkpoints.average == "best":
            return sorted(set(self.files.names(self.best.states)) - {self.files.best})
        return []

    def _save(self, trainer: pl.Trainer, keep: Callable[[], None]) -> None:
        trainer.save_checkpoint(self.files.last)
        if trainer.is_global_zero:
            keep()
        trainer.strategy.barrier("checkpoint kept")

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Adds what makes the file enough by itself: no data and no configuration are needed."""
        assert isinstance(pl_module, TranslationTask)
        pl_module.require_finite_weights()  # nothing may take the place of a state that is sound
        for logger in trainer.loggers:
            logger.save()  # what lies behind a state must not be lost when a run is killed
        checkpoint["latimer"] = {
            "format": FORMAT,
            "version": __version__,
            "hyperparameters": dict(pl_module.model.hyperparameters),
            **{name: one.model_bytes for name, one in self._tokenizers.named.items()},
            **self._tokenizers.hashes,
            "source_language": self._config.data.source_language,
            "target_language": self._config.data.target_language,
            "updates": trainer.global_step,
            "position": cast(TrainingLoader, trainer.train_dataloader).state_dict(),
            "random_states": gather(random_states()),
            "precision": trainer.precision,
            "scores": self._scores_of(trainer.global_step),
            "config": self._config.model_dump(mode="json"),
        }

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Goes on with the scores of the state itself."""
        about = checkpoint["latimer"]
        if about["scores"]:
            self.validated = ScoredState(about["updates"], about["scores"])

    def _scores_of(self, update: int) -> dict[str, float]:
        """Those of this update's validation: earlier ones were earned by other weights."""
        validated = self.validated
        return dict(validated.scores) if validated and validated.update == update else {}

    def state_dict(self) -> dict[str, Any]:
        """The best states so far and the patience that is left, for a run that goes on."""
        return self.best.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from stored scores."""
        self.best.load_state_dict(state_dict)
