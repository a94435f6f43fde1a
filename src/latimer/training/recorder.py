"""Measures training and writes its figures to the loggers and to the screen."""

import time
from typing import Any

import pytorch_lightning as pl

from latimer.screen import Screen
from latimer.training import tags
from latimer.training.meter import Meter
from latimer.training.progress import Progress, format_duration
from latimer.training.task import TranslationTask
from latimer.training.tensorboard import TensorBoard, log_values


class Recorder(pl.Callback):
    """Every ``log_every_updates`` updates: the training tags, a line in the log, and the bar.

    Args:
        screen: where the line and the bar are shown.
        log_every_updates: updates between two of them.
        last: the last update of the run, where that is known.
    """

    def __init__(self, screen: Screen, log_every_updates: int, last: int | None) -> None:
        self._screen = screen
        self._every = log_every_updates
        self._last = last
        self._meter = Meter()
        self._progress = Progress(screen)
        self._recorded: dict[str, Any] = {"update": 0, "values": {}}

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Logs the hyper-parameters at once, so that a killed run shows them too."""
        configuration = _task(pl_module).config.model_dump(mode="json")
        for logger in trainer.loggers:
            if isinstance(logger, TensorBoard):
                logger.log_configuration(configuration)
            else:
                logger.log_hyperparams(configuration)
        self._progress.start(trainer, self._last)
        self._meter.start()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_arguments: Any
    ) -> None:
        """Adds the update; the first one is shown too, so that a curve exists at once."""
        statistics = _task(pl_module).statistics
        self._meter.add(statistics)
        update = trainer.global_step
        self._progress.advance(update)
        if statistics.skipped:
            self._screen.status(
                f"update {update:,}: the gradient overflowed in float16, so the weights stayed as "
                "they were; the loss is scaled down"
            )
        if update == 1 or update % self._every == 0:
            self._record(trainer)

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """A validation is no training time."""
        self._meter.pause()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Training goes on."""
        self._meter.start()

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Closes the bar."""
        self._progress.stop()

    def on_exception(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException
    ) -> None:
        """Leaves the terminal as it was."""
        self._progress.stop()

    def teardown(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        """Shows what the profiler found, if there was one."""
        if stage == "fit" and (report := trainer.profiler.summary()):  # type: ignore[attr-defined]
            self._screen.print(report)

    def state_dict(self) -> dict[str, Any]:
        """The newest entry, and what was measured since."""
        return {"recorded": self._recorded, "meter": self._meter.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from there."""
        self._recorded = state_dict["recorded"]
        self._meter.load_state_dict(state_dict["meter"])

    def log_again(self, trainer: pl.Trainer) -> None:
        """Repeats the entry of this very update, if there was one, for curves that begin here."""
        if self._recorded["update"] == trainer.global_step:
            log_values(trainer, self._recorded["values"])

    def _record(self, trainer: pl.Trainer) -> None:
        values = self._meter.read()
        self._recorded = {"update": trainer.global_step, "values": values}
        log_values(trainer, values)
        text = (
            f"loss {values[tags.TRAIN_LOSS]:.3f} · rate {values[tags.TRAIN_LEARNING_RATE]:.2e} · "
            f"{values[tags.TRAIN_TOKENS_PER_SECOND]:,.0f} tokens/s"
        )
        self._progress.describe(text)
        left = self._progress.time_left()
        self._screen.status(
            f"{time.strftime('%H:%M:%S')} update {trainer.global_step:,} · "
            f"nll {values[tags.TRAIN_NLL]:.3f} · {text}"
            + (f" · {format_duration(left)} left" if left is not None else "")
        )


def _task(module: pl.LightningModule) -> TranslationTask:
    assert isinstance(module, TranslationTask)
    return module
