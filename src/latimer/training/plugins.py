"""Loggers and callbacks of other libraries, as the configuration names them."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytorch_lightning as pl
from hydra.utils import instantiate
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint
from pytorch_lightning.loggers import Logger

from latimer.config.run import RunConfig
from latimer.config.training import lower_is_better
from latimer.errors import LatimerError
from latimer.training.tags import VALIDATION_TAGS

PlugIn = TypeVar("PlugIn", Logger, pl.Callback)


def check_plug_ins(config: RunConfig) -> None:
    """Makes all of them once, so that a mistake shows before there is a run folder.

    Raises:
        LatimerError: one could not be made, or waits for a score that there is not.
    """
    for name, callback in zip(config.callbacks, make_callbacks(config.callbacks), strict=True):
        _check_monitor(f"callbacks.{name}", callback)
    with TemporaryDirectory() as folder:
        make_loggers(config.logger, Path(folder))


def make_loggers(sections: Mapping[str, Mapping[str, Any]], folder: Path) -> list[Logger]:
    """The loggers of the ``logger`` group, writing to the run folder unless they say otherwise."""
    return [
        _make(f"logger.{name}", {"save_dir": str(folder), **section}, Logger)  # type: ignore[type-abstract]
        for name, section in sections.items()
    ]


def make_callbacks(sections: Mapping[str, Mapping[str, Any]]) -> list[pl.Callback]:
    """The callbacks of the ``callbacks`` group."""
    return [
        _make(f"callbacks.{name}", dict(section), pl.Callback) for name, section in sections.items()
    ]


def _check_monitor(key: str, callback: pl.Callback) -> None:
    """Lightning would only tell at the first validation, and of a wrong direction never."""
    if not isinstance(callback, EarlyStopping | ModelCheckpoint) or callback.monitor is None:
        return
    monitor, mode = callback.monitor, callback.mode
    if monitor not in VALIDATION_TAGS:
        raise LatimerError(f"{key}.monitor={monitor}: must be one of {', '.join(VALIDATION_TAGS)}")
    better = "min" if lower_is_better(monitor) else "max"
    if mode != better:
        raise LatimerError(f"{key}.mode={mode}: write {better}, the best value of {monitor}")


def _make(key: str, section: dict[str, Any], kind: type[PlugIn]) -> PlugIn:
    """Builds the object of a section; a mistake in it is shown with the section's key.

    Raises:
        LatimerError: it could not be built, or is no object of that kind.
    """
    try:
        made = instantiate(section, _convert_="all")
    except Exception as error:
        reason = error.__cause__ or error
        raise LatimerError(
            f"{key}: {section.get('_target_')} could not be made: {reason}"
        ) from error
    if not isinstance(made, kind):
        raise LatimerError(f"{key}: {section.get('_target_')} is no {kind.__name__} of Lightning's")
    return made
