"""When the updates of a training ended, written down by whoever trains."""

import json
import time
from pathlib import Path
from typing import Any

import pytorch_lightning as pl

from benchmarks.memory import peak_resident, reset_peak, resident
from latimer.training.task import TranslationTask


class Laps:
    """Times the updates after those that warm up.

    Args:
        warmup: updates that don't count; at least one.
    """

    def __init__(self, warmup: int) -> None:
        self._warmup = warmup
        self._ends: list[float] = []
        self._pieces: list[int] = []
        self._peak = 0
        self.first_update = 0.0
        self.resident_before = 0

    def start(self) -> None:
        """All is there for the first update."""
        self.resident_before = resident()
        reset_peak()

    def end_of_update(self, pieces: int) -> None:
        """Notes an update and its target pieces."""
        self._ends.append(time.perf_counter())
        self._pieces.append(pieces)
        self._peak = peak_resident()
        self.first_update = self.first_update or time.time()

    def result(self) -> dict[str, Any]:
        """Plain values: updates, target pieces, seconds, bytes; and when the first update ended.

        ``all_pieces`` has every update's, the warm-up's too.
        """
        timed = self._pieces[self._warmup :]
        return {
            "updates": len(timed),
            "pieces": sum(timed),
            "seconds": self._ends[-1] - self._ends[self._warmup - 1] if timed else 0.0,
            "peak_bytes": self._peak,
            "resident_before": self.resident_before,
            "first_update": self.first_update,
            "all_pieces": self._pieces,
        }


class LapsOfTraining(pl.Callback):
    """The laps of ``train.py``, which is told of it by the key ``callbacks``.

    Args:
        warmup: as in :class:`Laps`.
        file: where the result is written, as JSON.
    """

    def __init__(self, warmup: int, file: str) -> None:
        self._laps = Laps(warmup)
        self._file = Path(file)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """The model is where it is trained."""
        self._laps.start()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_arguments: Any
    ) -> None:
        """What Lightning and the other callbacks do between two of these counts."""
        assert isinstance(pl_module, TranslationTask)
        self._laps.end_of_update(int(pl_module.statistics.tokens))

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """What came after the last update, such as a validation, doesn't count."""
        self._file.write_text(json.dumps(self._laps.result()), encoding="utf-8")
