"""Lightning's trainer, set up from the configuration."""

import warnings
from pathlib import Path

import pytorch_lightning as pl
from lightning_fabric.plugins.environments.lightning import LightningEnvironment
from torch.utils.data import DataLoader

from latimer.config.run import RunConfig
from latimer.config.training import TrainerConfig
from latimer.data.batches import TokenBatches
from latimer.data.bpe_dropout import BpeDropoutPairs
from latimer.data.encoded import Batch, EncodedPairs
from latimer.data.loaders import TrainingLoader, validation_loader
from latimer.data.prepared import PreparedCorpus
from latimer.screen import Screen
from latimer.training.attention_images import AttentionImages
from latimer.training.checkpoints import Checkpoints, SafeCheckpointIO
from latimer.training.ending import StopOnSignal, Stopwatch, ValidateAtTheEnd
from latimer.training.hardware import Hardware
from latimer.training.patience import Patience
from latimer.training.plugins import make_callbacks, make_loggers
from latimer.training.processes import rank
from latimer.training.random_states import UndisturbedByValidation
from latimer.training.recorder import Recorder
from latimer.training.validation import TranslateValidation

PRECISIONS = {"float32": "32-true", "bf16-mixed": "bf16-mixed", "float16-mixed": "16-mixed"}
EXPECTED_WARNINGS = (
    ".*does not have many workers.*",
    ".*LeafSpec.*",
    ".*lr_scheduler.step.*optimizer.step.*",
    ".*Found .* module.* in eval mode.*",
    ".*sync_dist=True.*",
)


def make_loaders(
    config: RunConfig, corpus: PreparedCorpus
) -> tuple[TrainingLoader, DataLoader[list[Batch]]]:
    """The loaders of training and validation; their items are the micro-batches of an update.

    Of several processes, each gets its share of both.
    """
    share = {"rank": rank(), "world_size": config.trainer.devices}
    batches = TokenBatches(
        corpus.train,
        max_tokens=config.batches.max_tokens,
        accumulation=config.batches.accumulation,
        seed=config.seed,
        **share,
    )
    pairs = training_pairs(config, corpus)
    training = TrainingLoader(pairs, batches, workers=config.batches.loader_workers)
    max_tokens = config.validation.max_tokens
    validation = validation_loader(corpus.validation, max_tokens=max_tokens, **share)
    return training, validation


def training_pairs(config: RunConfig, corpus: PreparedCorpus) -> EncodedPairs | BpeDropoutPairs:
    """The training split, with BPE-dropout if it is asked for."""
    dropout = config.tokenizer.bpe_dropout
    if not dropout:
        return corpus.train
    return BpeDropoutPairs(
        corpus.train,
        corpus.tokenizers,
        dropout=dropout,
        seed=config.seed,
        max_length=config.data.cleaning.max_length,
    )


def last_update(limits: TrainerConfig, updates_per_epoch: int) -> int | None:
    """The update that ends a run, by whichever of its limits comes first; None without a limit.

    Lightning is not asked for it: it takes an epoch that a limit cut short for a whole one.
    """
    epochs = limits.max_epochs and limits.max_epochs * updates_per_epoch
    return min((limit for limit in (limits.max_updates, epochs) if limit), default=None)


def make_trainer(  # noqa: PLR0913
    config: RunConfig,
    *,
    hardware: Hardware,
    corpus: PreparedCorpus,
    updates_per_epoch: int,
    folder: Path,
    screen: Screen,
) -> pl.Trainer:
    """The trainer of a run, with everything that watches it."""
    for message in EXPECTED_WARNINGS:
        warnings.filterwarnings("ignore", message)
    limits = config.trainer
    return pl.Trainer(
        accelerator=hardware.accelerator,
        devices=limits.devices,
        strategy="ddp" if limits.devices > 1 else "auto",
        profiler=limits.profiler,
        precision=PRECISIONS[hardware.precision],  # type: ignore[arg-type]
        # No limit of Lightning's: at one that is reached it would not even begin, and what a killed
        # run left undone there would stay so.
        max_steps=-1,
        max_epochs=-1,
        log_every_n_steps=1,
        val_check_interval=config.validation.every_updates,
        check_val_every_n_epoch=None,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
        callbacks=_callbacks(
            config, corpus, folder, screen, last_update(limits, updates_per_epoch)
        ),
        logger=make_loggers(config.logger, folder) or False,
        plugins=[SafeCheckpointIO(), LightningEnvironment()],
        default_root_dir=folder,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


def _callbacks(
    config: RunConfig, corpus: PreparedCorpus, folder: Path, screen: Screen, last: int | None
) -> list[pl.Callback]:
    """In the order in which they must act: measure, translate, save, and only then leave."""
    checkpoints = folder / "checkpoints"
    saving = Checkpoints(folder=checkpoints, tokenizers=corpus.tokenizers, config=config)
    return [
        Recorder(screen, config.trainer.log_every_updates, last),
        TranslateValidation(
            tokenizers=corpus.tokenizers,
            pairs=corpus.validation_text,
            config=config,
            screen=screen,
            samples=folder / "samples",
        ),
        AttentionImages(
            tokenizers=corpus.tokenizers,
            pairs=corpus.validation_text,
            validation=config.validation,
        ),
        *make_callbacks(config.callbacks),
        UndisturbedByValidation(),
        saving,
        Patience(saving.best, config.validation.patience, screen),
        Stopwatch(config.trainer.max_time),
        ValidateAtTheEnd(last),
        StopOnSignal(checkpoints / "last.ckpt", screen),
    ]
