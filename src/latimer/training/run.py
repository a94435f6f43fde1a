"""A whole run: data in, model trained, best checkpoint scored, everything written down."""

import logging
import time
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

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


class PreparedRun(NamedTuple):
    """All that a training needs, once it is found to be right."""

    config: RunConfig
    hardware: Hardware
    corpus: PreparedCorpus
    task: TranslationTask
    folder: Path


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
    run = PreparedRun(config, hardware, corpus, task, folder)
    with noted_failure(screen):
        _train_and_score(run, screen)
    return folder


def _train_and_score(run: PreparedRun, screen: Screen) -> None:
    """Everything that happens once there is a run folder."""
    environment = describe_environment(run.hardware.description)
    _write_down(run, environment)
    _introduce(run, screen)
    started = time.monotonic()
    final = _fit(run, screen)
    seconds = time.monotonic() - started
    finished = FinishedRun(
        config=run.config,
        corpus=run.corpus,
        environment=environment,
        parameters=count_parameters(run.task.model),
        seconds=seconds,
        checkpoint=final,
        results=_evaluate(run, final, screen),
        folder=run.folder,
    )
    write_run_page(finished)
    show_end(finished, screen)


def _fit(run: PreparedRun, screen: Screen) -> Path:
    """Trains; the checkpoint that the run is judged by."""
    training, validation = make_loaders(run.config, run.corpus)
    trainer = make_trainer(
        run.config,
        hardware=run.hardware,
        corpus=run.corpus,
        updates_per_epoch=len(training),
        folder=run.folder,
        screen=screen,
    )
    trainer.fit(run.task, training, validation)
    return choose_final(trainer, run.task, validation, screen)


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


def _write_down(run: PreparedRun, environment: dict[str, Any]) -> None:
    """What is known before the first update."""
    (run.folder / "checkpoints").mkdir()
    settings = run.config.model_dump(mode="json")
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
    (run.folder / "config.yaml").write_text(text, encoding="utf-8")
    write_json(environment, run.folder / "environment.json")
    write_json(run.corpus.report, run.folder / "data.json")


def _introduce(run: PreparedRun, screen: Screen) -> None:
    """Tells what is about to be trained, on what, and where to watch it."""
    corpus, tokenizer = run.corpus, run.config.tokenizer
    screen.table("training pairs", *report_rows(corpus.report))
    for warning in corpus.report["warnings"]:
        screen.print(f"warning: {warning}")
    pieces = [f"{vocabulary.vocab_size:,}" for vocabulary in corpus.tokenizers.named.values()]
    normalization = f", {tokenizer.normalization}" if tokenizer.file is None else ""
    screen.print(f"vocabulary   {' + '.join(pieces)} pieces{normalization}")
    screen.print(f"model        {count_parameters(run.task.model):,} parameters")
    screen.print(f"hardware     {run.hardware.description}")
    screen.print(f"run folder   {run.folder}")
    screen.print(f"watch it     tensorboard --logdir {run.folder}")


def _evaluate(run: PreparedRun, checkpoint: Path, screen: Screen) -> list[Result]:
    """Scores a checkpoint as ``evaluate.py`` does."""
    settings = EvaluationSettings(decoding=run.config.decoding)
    return evaluate_test_sets(
        load_model(checkpoint),
        run.corpus.test_sets,
        settings,
        folder=run.folder / "evaluation",
        screen=screen,
    )
