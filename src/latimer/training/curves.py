"""The loggers of a run that goes on: each update has one entry, whatever was logged before."""

import csv
import warnings
from collections.abc import Iterable
from pathlib import Path

from pytorch_lightning.loggers import CSVLogger, Logger, TensorBoardLogger
from pytorch_lightning.utilities import rank_zero_only


@rank_zero_only
def go_on_from(loggers: Iterable[Logger], step: int) -> None:
    """Has loggers forget what they have of ``step`` and of later steps.

    To be called before anything is logged. Loggers of other kinds are left as they are.
    """
    for logger in loggers:
        if isinstance(logger, TensorBoardLogger):
            # TensorBoard's writer then tells its readers to pass over the steps from there on.
            logger._kwargs["purge_step"] = step
        elif isinstance(logger, CSVLogger):
            _cut(logger, step)


def _cut(logger: CSVLogger, step: int) -> None:
    """Takes the former rows over, which Lightning would delete."""
    path = Path(logger.log_dir) / "metrics.csv"
    if not path.is_file():
        return
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if int(row["step"]) < step]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*Previous log files.*")
        logger.experiment.metrics = rows
    logger.save()
