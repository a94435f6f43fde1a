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
        self._last: int | None = None
        self._task = self._bar.add_task("", start=False, end="", left="")
        self._started = 0.0
        self._first_update = 0

    def start(self, trainer: pl.Trainer, last: int | None) -> None:
        """Shows the bar, up to the last update if there is one; a resumed run goes on in it."""
        self._trainer = trainer
        self._last = last
        self._started = time.monotonic()
        self._first_update = trainer.global_step
        self._bar.update(self._task, total=last, end=f"{last:,}" if last else "?")
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
        timers = [c for c in trainer.callbacks if isinstance(c, pl.callbacks.Timer)]  # type: ignore[attr-defined]
        limits = [rest for timer in timers if (rest := timer.time_remaining()) is not None]
        done = trainer.global_step - self._first_update
        if self._last is not None and done:
            left = self._last - trainer.global_step
            limits.append((now - self._started) / done * left)
        return max(min(limits), 0.0) if limits else None


def format_duration(seconds: float) -> str:
    """Seconds as ``1:02:03`` or ``2:03``."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
