"""A whole run: data in, model trained, best checkpoint scored, everything written down."""

import logging
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import yaml

from latimer.checkpoint import load_model
from latimer.config.run import RunConfig
from latimer.data.prepared import PreparedCorpus, prepare, report_rows
from latimer.errors import LatimerError
from latimer.evaluation import EvaluationSettings, Result, evaluate_test_sets
from latimer.model import Transformer
from latimer.scoring import require_tokenizer
from latimer.screen import Screen
from latimer.training.averaging import choose_final
from latimer.training.ending import noted_failure, restored_signals
from latimer.training.hardware import Hardware, choose_hardware
from latimer.training.memory import keep_freed_memory
from latimer.training.plugins import check_plug_ins
from latimer.training.run_folder import create_run_folder, describe_environment, write_json
from latimer.training.summary import FinishedRun, show_end, write_run_page
from latimer.training.task import TranslationTask
from latimer.training.trainer import make_loaders, make_trainer


@restored_signals()
def train(config: RunConfig, screen: Screen) -> Path:
    """Trains as configured and scores the best checkpoint on all test sets.

    Everything that can be wrong with the data is found before the run folder is made.

    Returns:
        The run folder.

    Raises:
        LatimerError: the data, a path or the training itself is at fault.
        SystemExit: a signal stopped the training; its state was saved.
    """
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    pl.seed_everything(config.seed, verbose=False)
    keep_freed_memory()
    hardware = choose_hardware(config.trainer)
    require_tokenizer(config.data.target_language)
    check_plug_ins(config)
    corpus = prepare(config.data, config.tokenizer, folder=Path(config.prepared_folder))
    check_positions(config, corpus)
    task = TranslationTask(make_model(config, **corpus.tokenizers.vocab_sizes), config)
    folder = create_run_folder(config, datetime.now())
    screen.attach(folder / "train.log")
    with noted_failure(screen):
        return _run(config, hardware, corpus, task, folder, screen)


def _run(  # noqa: PLR0913, PLR0917 (what a run is made of)
    config: RunConfig,
    hardware: Hardware,
    corpus: PreparedCorpus,
    task: TranslationTask,
    folder: Path,
    screen: Screen,
) -> Path:
    """Everything that happens once there is a run folder."""
    environment = describe_environment(hardware.description)
    _write_down(config, corpus, environment, folder)
    _introduce(corpus, task, hardware, folder, screen)
    started = time.monotonic()
    final = _fit(config, hardware, corpus, task, folder, screen)
    seconds = time.monotonic() - started
    run = FinishedRun(
        config=config,
        corpus=corpus,
        environment=environment,
        parameters=count_parameters(task.model),
        seconds=seconds,
        checkpoint=final,
        results=_evaluate(config, corpus, final, folder, screen),
        folder=folder,
    )
    write_run_page(run)
    show_end(run, screen)
    return folder


def _fit(  # noqa: PLR0913, PLR0917 (what a run is made of)
    config: RunConfig,
    hardware: Hardware,
    corpus: PreparedCorpus,
    task: TranslationTask,
    folder: Path,
    screen: Screen,
) -> Path:
    """Trains; the checkpoint that the run is judged by."""
    training, validation = make_loaders(config, corpus)
    trainer = make_trainer(
        config,
        hardware=hardware,
        corpus=corpus,
        updates_per_epoch=len(training),
        folder=folder,
        screen=screen,
    )
    trainer.fit(task, training, validation)
    return choose_final(trainer, task, validation, screen)


def count_parameters(model: Transformer) -> int:
    """The weights of a model; a matrix that is shared counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def check_positions(config: RunConfig, corpus: PreparedCorpus) -> None:
    """Raises LatimerError when learned positions do not reach to the end of the validation set."""
    pairs, positions = corpus.validation, config.model.max_length
    needed = 1 + int(max(pairs.source_lengths.max(), pairs.target_lengths.max()))
    if positions is not None and positions < needed:
        raise LatimerError(
            f"model.max_length={positions}: the longest validation sentence has {needed} pieces, "
            f"bos or eos included; write model.max_length={needed} or more"
        )


def make_model(config: RunConfig, *, source_vocab_size: int, target_vocab_size: int) -> Transformer:
    """The network of a configuration, for vocabularies of the given sizes."""
    return Transformer(
        source_vocab_size=source_vocab_size,
        target_vocab_size=target_vocab_size,
        **config.model.model_dump(),
    )


def _write_down(
    config: RunConfig, corpus: PreparedCorpus, environment: dict[str, Any], folder: Path
) -> None:
    """What is known before the first update."""
    (folder / "checkpoints").mkdir()
    text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    write_json(environment, folder / "environment.json")
    write_json(corpus.report, folder / "data.json")


def _introduce(
    corpus: PreparedCorpus,
    task: TranslationTask,
    hardware: Hardware,
    folder: Path,
    screen: Screen,
) -> None:
    """Tells what is about to be trained, on what, and where to watch it."""
    screen.table("training pairs", *report_rows(corpus.report))
    for warning in corpus.report["warnings"]:
        screen.print(f"warning: {warning}")
    pieces = [f"{tokenizer.vocab_size:,}" for tokenizer in corpus.tokenizers.named.values()]
    settings = task.config.tokenizer
    normalization = f", {settings.normalization}" if settings.file is None else ""
    screen.print(f"vocabulary   {' + '.join(pieces)} pieces{normalization}")
    screen.print(f"model        {count_parameters(task.model):,} parameters")
    screen.print(f"hardware     {hardware.description}")
    screen.print(f"run folder   {folder}")
    screen.print(f"watch it     tensorboard --logdir {folder}")


def _evaluate(
    config: RunConfig, corpus: PreparedCorpus, checkpoint: Path, folder: Path, screen: Screen
) -> list[Result]:
    """Scores a checkpoint as ``evaluate.py`` does."""
    settings = EvaluationSettings(decoding=config.decoding)
    return evaluate_test_sets(
        load_model(checkpoint),
        corpus.test_sets,
        settings,
        folder=folder / "evaluation",
        screen=screen,
    )
