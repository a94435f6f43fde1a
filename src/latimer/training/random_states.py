"""The states of all random number generators that a training draws from, as plain values."""

import random
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch


def random_states() -> dict[str, Any]:
    """Those of Python, NumPy, PyTorch and this process's GPU, ready for a checkpoint."""
    version, numbers, normal = random.getstate()
    kind, keys, *rest = np.random.get_state()
    states = {
        # Tensors, since a safe reader takes its time over each number of a list.
        "python": (version, torch.tensor(numbers), normal),
        "numpy": (str(kind), torch.tensor(np.asarray(keys, dtype=np.int64)), *rest),
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    if torch.backends.mps.is_available():
        states["mps"] = torch.mps.get_rng_state()
    return states


def restore(states: dict[str, Any]) -> None:
    """Sets all generators to what :func:`random_states` gave; those of absent GPUs are left out."""
    version, numbers, normal = states["python"]
    random.setstate((version, tuple(numbers.tolist()), normal))
    kind, keys, *rest = states["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), *rest))
    torch.set_rng_state(states["torch"])
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state(states["cuda"])
    if "mps" in states and torch.backends.mps.is_available():
        torch.mps.set_rng_state(states["mps"])


class UndisturbedByValidation(pl.Callback):
    """Gives the training its random numbers back after each validation.

    So a training doesn't depend on when and how it is validated, whoever draws a number there. It
    must stand before the callback that saves checkpoints.
    """

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Remembers the states."""
        self._states = random_states()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Restores them."""
        restore(self._states)
