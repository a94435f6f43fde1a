"""A whole run: data in, model trained, best checkpoint scored, everything written down."""

from datetime import datetime
from pathlib import Path
from typing import Any

from latimer.checkpoint import load_model
from latimer.config.run import RunConfig
from latimer.evaluation import EvaluationSettings, Result, evaluate_test_sets
from latimer.screen import Screen
from latimer.training.averaging import choose_final
from latimer.training.ending import noted_failure, restored_signals, seconds_of_training
from latimer.training.introduction import introduce
from latimer.training.processes import given_folder, joined
from latimer.training.ready import PreparedRun, count_parameters, make_ready
from latimer.training.resume import Resumed, tidy
from latimer.training.run_folder import (
    create_run_folder,
    describe_environment,
    sole_writer,
    write_config,
    write_json,
)
from latimer.training.summary import FinishedRun, show_end, write_run_page
from latimer.training.taking import RECORD
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
    if config.resume is not None:
        return _go_on(config, screen)
    ready = make_ready(config, Path(config.prepared_folder))
    folder = create_run_folder(config, datetime.now())
    with sole_writer(folder):
        _train_and_score(PreparedRun(config, *ready, folder), screen)
    return folder


def _go_on(config: RunConfig, screen: Screen) -> Path:
    """Likewise, with a run that was stopped."""
    folder = Path(config.resume or "")
    with sole_writer(folder):
        resumed = Resumed.newest(config, screen)
        state = resumed.state.path
        ready = make_ready(resumed.config, Path(config.prepared_folder), state)
        run = PreparedRun(resumed.config, *ready, folder, resumed)
        updates_per_epoch = len(make_loaders(config, run.corpus)[0])
        resumed.check(run.hardware, run.corpus, updates_per_epoch)
        tidy(folder, resumed.state)
        _train_and_score(run, screen)
    return folder


def train_share(config: RunConfig, screen: Screen) -> None:
    """Trains along with the first process of a run, and leaves everything else to that one.

    Raises:
        LatimerError: the training is at fault.
        SystemExit: a signal stopped it.
    """
    resumed = None if config.resume is None else Resumed.shared(config)
    config = resumed.config if resumed else config
    state = resumed.state.path if resumed else None
    ready = make_ready(config, Path(config.prepared_folder), state)
    _fit(PreparedRun(config, *ready, given_folder(), resumed), screen)


def _train_and_score(run: PreparedRun, screen: Screen) -> None:
    """Everything that happens once there is a run folder."""
    screen.attach(run.folder / "train.log")
    with noted_failure(screen, run.folder):
        environment = _write_down(run)
        _introduce(run, screen)
        final, seconds = _fit(run, screen)
        _conclude(run, environment, final, seconds, screen)


def _conclude(
    run: PreparedRun, environment: dict[str, Any], final: Path, seconds: float, screen: Screen
) -> None:
    """Scores the chosen checkpoint, and writes the page of the run."""
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


def _fit(run: PreparedRun, screen: Screen) -> tuple[Path, float]:
    """Trains; the checkpoint that the run is judged by, and the seconds of its training."""
    resumed = run.resumed
    with joined(resumed.to_share if resumed else run.config, run.folder, screen):
        training, validation = make_loaders(run.config, run.corpus)
        trainer = make_trainer(
            run.config,
            hardware=run.hardware,
            corpus=run.corpus,
            updates_per_epoch=len(training),
            folder=run.folder,
            screen=screen,
        )
        if resumed:
            resumed.join(trainer, training)
        state = resumed.state.path if resumed else None
        trainer.fit(run.task, training, validation, ckpt_path=state)
        return choose_final(trainer, run.task, validation, screen), seconds_of_training(trainer)


def _write_down(run: PreparedRun) -> dict[str, Any]:
    """What is known before the first update; returns the content of ``environment.json``."""
    environment = describe_environment(run.hardware.description)
    if run.resumed:
        return run.resumed.write_down(environment)
    (run.folder / "checkpoints").mkdir()
    write_config(run.config, run.folder)
    write_json(environment, run.folder / "environment.json")
    write_json(run.corpus.report, run.folder / "data.json")
    if run.taken:
        write_json(run.taken.record, run.folder / RECORD)
    return environment


def _introduce(run: PreparedRun, screen: Screen) -> None:
    """Tells what is about to be trained, on what, and where to watch it."""
    introduce(run, screen)
    screen.print(f"run folder   {run.folder}")
    for line in run.resumed.describe(run.hardware) if run.resumed else ():
        screen.print(line)
    screen.print(f"watch it     tensorboard --logdir {run.folder}")


def _evaluate(run: PreparedRun, checkpoint: Path, screen: Screen) -> list[Result]:
    """Scores a checkpoint as ``evaluate.py`` does."""
    settings = EvaluationSettings(
        decoding=run.config.decoding,
        bleu_tokenizer=run.config.scoring.bleu_tokenizer,
        lowercase=run.config.scoring.lowercase,
    )
    return evaluate_test_sets(
        load_model(checkpoint),
        run.corpus.test_sets,
        settings,
        folder=run.folder / "evaluation",
        screen=screen,
    )
