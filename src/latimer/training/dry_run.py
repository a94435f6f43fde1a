"""``dry_run=true``: everything that a run checks, and some of its updates; no file is left."""

from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from rich.console import Console

from latimer.config.run import RunConfig
from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.training.counts import BLOCK_COLUMNS, Epoch, count_blocks
from latimer.training.dry_run_report import show_epoch, show_measured
from latimer.training.ending import restored_signals
from latimer.training.introduction import introduce
from latimer.training.measurement import Measurement
from latimer.training.ready import PreparedRun, make_ready
from latimer.training.run_folder import check_run_folder
from latimer.training.trainer import make_loaders, make_trainer

MOST_UPDATES = 25
MOST_TRANSLATED = 16


@restored_signals()
def dry_run(config: RunConfig, screen: Screen) -> None:
    """Checks what a run checks, measures some updates and a validation, and tells what it found.

    Whatever is written goes to a temporary folder, which is deleted. A corpus that was prepared
    before is used, and one that wasn't is not kept.

    Raises:
        LatimerError: what the run itself would raise; or the largest batch needs too much memory.
        SystemExit: a signal came.
    """
    with TemporaryDirectory(prefix="latimer-dry-run-") as scratch:
        prepared = _linked(Path(config.prepared_folder), Path(scratch, "prepared"))
        ready = make_ready(config, prepared)
        check_run_folder(config)
        run = PreparedRun(config, *ready, Path(scratch, "run"))
        introduce(run, screen)
        blocks = [(name, *(f"{n:,}" for n in row)) for name, *row in count_blocks(run.task.model)]
        screen.table("parameters", BLOCK_COLUMNS, blocks)
        epoch = Epoch.of(run.corpus.train, make_loaders(config, run.corpus)[0])
        show_epoch(epoch, config, screen)
        measurement = _measure(run)
    show_measured(measurement, epoch, run, screen)
    screen.print("nothing was written; without dry_run=true the run begins")


def _linked(prepared: Path, scratch: Path) -> Path:
    """A folder for prepared corpora that has the same as another one, and can be thrown away."""
    scratch.mkdir()
    for place in prepared.glob("*"):
        if place.is_dir() and not place.suffix:
            (scratch / place.name).symlink_to(place.absolute())
    return scratch


def _measure(run: PreparedRun) -> Measurement:
    """Trains for some updates in one process, and validates."""
    config = run.task.config = _shortened(run.config)
    training, validation = make_loaders(config, run.corpus)
    quiet = Screen()
    quiet.console = Console(file=StringIO())
    (run.folder / "checkpoints").mkdir(parents=True)
    trainer = make_trainer(
        config,
        hardware=run.hardware,
        corpus=run.corpus,
        updates_per_epoch=len(training),
        folder=run.folder,
        screen=quiet,
    )
    measurement = Measurement()
    trainer.callbacks.insert(0, measurement)  # type: ignore[attr-defined]
    try:
        trainer.fit(run.task, training, validation)
    except torch.OutOfMemoryError as error:
        raise LatimerError(_too_little_memory(measurement, error)) from error
    return measurement


def _shortened(config: RunConfig) -> RunConfig:
    """The configuration of what is measured: one process, some updates, one validation of less.

    Loggers and callbacks of other libraries, which might write somewhere, have been made once by
    then, and take no part in it.
    """
    trainer = {
        "devices": 1,
        "max_updates": min(config.trainer.max_updates or MOST_UPDATES, MOST_UPDATES),
        "max_time": None,
        "profiler": None,
    }
    validation = {
        "every_updates": 10 * MOST_UPDATES,
        "bleu_sentences": min(config.validation.bleu_sentences, MOST_TRANSLATED),
        "patience": None,
    }
    sections = {
        "trainer": config.trainer.model_copy(update=trainer),
        "validation": config.validation.model_copy(update=validation),
    }
    return config.model_copy(update={**sections, "callbacks": {}, "logger": {}})


def _too_little_memory(measurement: Measurement, error: Exception) -> str:
    rows, source, target = measurement.largest
    what = "a validation" if measurement.timed.updates else "the largest batch"
    return (
        f"too little memory for {what} ({str(error).partition('.')[0]}); the largest batch has "
        f"{rows} pairs of up to {source} source and {target} target pieces. Write a smaller "
        "batches.max_tokens, with a larger batches.accumulation for updates of the same size"
    )
