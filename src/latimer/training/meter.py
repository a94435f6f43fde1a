"""Means over the updates since the last reading, and the speed without the validations."""

import time
from dataclasses import asdict
from typing import Any

from latimer.training import tags
from latimer.training.task import UpdateStatistics


class Meter:
    """Adds up updates; a reading empties it."""

    def __init__(self) -> None:
        self._updates: list[UpdateStatistics] = []
        self._seconds = 0.0
        self._since: float | None = None

    def start(self) -> None:
        """Training goes on from now."""
        self._since = time.perf_counter()

    def pause(self) -> None:
        """Something else begins: what follows is not training time."""
        if self._since is not None:
            self._seconds += time.perf_counter() - self._since
        self._since = None

    def add(self, statistics: UpdateStatistics) -> None:
        """One more update."""
        self._updates.append(statistics)

    def read(self) -> dict[str, float]:
        """The values of all training tags; needs at least one update since the last reading."""
        self.pause()
        updates = self._updates
        applied = [update for update in updates if not update.skipped] or updates
        tokens = sum(update.tokens for update in updates)
        real = sum(update.real_cells for update in updates)
        values = {
            tags.TRAIN_LOSS: sum(update.loss for update in updates) / tokens,
            tags.TRAIN_NLL: sum(update.nll for update in updates) / tokens,
            tags.TRAIN_LEARNING_RATE: updates[-1].learning_rate,
            tags.TRAIN_GRAD_NORM: applied[-1].grad_norm,
            tags.TRAIN_TOKENS_PER_SECOND: tokens / self._seconds,
            tags.TRAIN_PADDING: 1.0 - real / sum(update.cells for update in updates),
        }
        self._updates, self._seconds = [], 0.0
        self.start()
        return values

    def state_dict(self) -> dict[str, Any]:
        """What was added since the last reading, as plain values."""
        running = time.perf_counter() - self._since if self._since is not None else 0.0
        return {
            "updates": [asdict(update) for update in self._updates],
            "seconds": self._seconds + running,
        }

    def load_state_dict(self, stored: dict[str, Any]) -> None:
        """Goes on from what :meth:`state_dict` gave."""
        self._updates = [UpdateStatistics(**update) for update in stored["updates"]]
        self._seconds = stored["seconds"]
