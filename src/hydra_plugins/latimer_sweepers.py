"""Latimer's sweepers, where Hydra looks for plug-ins; they live in :mod:`latimer.sweeps`."""

from latimer.sweeps.grid import Grid
from latimer.sweeps.study import Study


class GridSweeper(Grid):
    """``hydra/sweeper=grid``."""


class OptunaSweeper(Study):
    """``hydra/sweeper=optuna``."""
