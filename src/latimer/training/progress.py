"""The bar that shows how far a training is: updates, loss, rate, tokens/s and time left."""

import time

import pytorch_lightning as pl
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as RichProgress

from latimer.screen import Screen


class Progress:
    """A rich progress bar over optimizer updates; silent where the screen is no terminal."""

    def __init__(self, screen: Screen) -> None:
        self._bar = RichProgress(
            TextColumn("update {task.completed:,.0f}/{task.fields[end]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.description} {task.fields[left]}"),
            console=screen.console,
            transient=True,
            disable=not screen.console.is_terminal,
        )
        self._trainer: pl.Trainer
        self._task = self._bar.add_task("", start=False, end="", left="")
        self._started = 0.0
        self._first_update = 0

    def start(self, trainer: pl.Trainer) -> None:
        """Shows the bar; a resumed run begins where it stopped."""
        self._trainer = trainer
        self._started = time.monotonic()
        self._first_update = trainer.global_step
        total = trainer.max_steps if trainer.max_steps > 0 else None
        self._bar.update(self._task, total=total, end=f"{total:,}" if total else "?")
        self._bar.start()

    def advance(self, update: int) -> None:
        """Moves the bar to this update."""
        left = self.time_left()
        text = "" if left is None else f"· {format_duration(left)} left"
        self._bar.update(self._task, completed=update, left=text)

    def describe(self, text: str) -> None:
        """Puts the newest figures beside the bar."""
        self._bar.update(self._task, description=text)

    def stop(self) -> None:
        """Takes the bar away."""
        self._bar.stop()

    def time_left(self) -> float | None:
        """Seconds until the first limit is reached, at the pace so far; None if nobody knows."""
        trainer, now = self._trainer, time.monotonic()
        limits = [
            callback.time_remaining() or 0.0
            for callback in trainer.callbacks  # type: ignore[attr-defined]
            if isinstance(callback, pl.callbacks.Timer)
        ]
        done = trainer.global_step - self._first_update
        if trainer.max_steps > 0 and done:
            left = trainer.max_steps - trainer.global_step
            limits.append((now - self._started) / done * left)
        return max(min(limits), 0.0) if limits else None


def format_duration(seconds: float) -> str:
    """Seconds as ``1:02:03`` or ``2:03``."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
