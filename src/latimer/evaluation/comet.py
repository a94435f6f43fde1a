"""COMET, a learned metric: an optional package, and a model that the user has on the disk."""

import hashlib
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from latimer.errors import LatimerError
from latimer.scoring import Metric

NAME = "COMET"
BATCH = 16
SEED = 12345
"""That of sacrebleu's resamplings."""
SCALED = "COMET is the mean of the model's own scores times 100"
INSTALL = (
    "needs the package unbabel-comet, which asks for older libraries than latimer does; "
    "conf/evaluate.yaml tells how to install them together"
)


@dataclass(frozen=True)
class Comet:
    """A model of COMET, ready to score.

    Attributes:
        model: one of the package's.
        sha256: of its file, in hexadecimal digits.
        signature: what is needed to compare its figures with others, as sacrebleu's do it.
    """

    model: Any
    sha256: str
    signature: str

    def score(
        self,
        sources: Sequence[str],
        texts: Sequence[str],
        references: Sequence[str],
        *,
        device: torch.device,
        bootstrap: int,
    ) -> Metric:
        """The mean over all lines, times 100, with its 95% interval from resampled lines.

        Raises:
            LatimerError: there is not one score for each line.
        """
        lines = zip(sources, texts, references, strict=True)
        samples = [dict(zip(("src", "mt", "ref"), line, strict=True)) for line in lines]
        predicted = self.model.predict(
            samples, batch_size=BATCH, progress_bar=False, num_workers=0, **_place(device)
        )
        scores = 100 * np.array(predicted["scores"], dtype=np.float64)
        if scores.shape != (len(samples),):
            raise LatimerError(f"COMET gave {len(scores):,} scores for {len(samples):,} lines")
        return Metric(NAME, float(scores.mean()), self.signature, _interval(scores, bootstrap))


def load_comet(path: str) -> Comet:
    """Loads a model; nothing is ever downloaded.

    Args:
        path: ``.../checkpoints/model.ckpt``, with ``hparams.yaml`` in the folder above its own. It
            is opened by COMET, which may run code that it holds.

    Raises:
        LatimerError: the package, the file, or something that the model needs is missing.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise LatimerError(
            f"comet={path}: there is no such file; write the path of a model's .ckpt file"
        )
    package = _import(path)
    try:
        model = package.load_from_checkpoint(str(file), local_files_only=True)
    except Exception as error:  # whatever it is, it belongs to the package or to the file
        raise LatimerError(f"comet={path}: COMET cannot load it ({error})") from error
    with file.open("rb") as opened:
        sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
    version = getattr(package, "__version__", "unknown")
    return Comet(model, sha256, f"model:{file.name}|sha256:{sha256}|scale:100|version:{version}")


def _import(path: str) -> Any:
    try:
        package = importlib.import_module("comet")
    except ImportError as error:
        raise LatimerError(f"comet={path}: {INSTALL} ({error})") from error
    if not hasattr(package, "load_from_checkpoint"):
        raise LatimerError(f"comet={path}: {INSTALL}; the package comet that is there is another")
    return package


def _place(device: torch.device) -> dict[str, Any]:
    """The device in the words of COMET's ``predict``."""
    if device.type == "cpu":
        return {"gpus": 0}
    return {"gpus": 1, "devices": [device.index or 0], "accelerator": device.type}


def _interval(scores: np.ndarray[Any, Any], bootstrap: int) -> tuple[float, float] | None:
    if not bootstrap:
        return None
    dice = np.random.default_rng(SEED)
    means = [dice.choice(scores, len(scores)).mean() for _ in range(bootstrap)]
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)
