"""Loggers and callbacks of other libraries, as the configuration names them."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytorch_lightning as pl
from hydra.utils import instantiate
from pytorch_lightning.loggers import Logger

from latimer.config.run import RunConfig
from latimer.errors import LatimerError

PlugIn = TypeVar("PlugIn", Logger, pl.Callback)


def check_plug_ins(config: RunConfig) -> None:
    """Makes all of them once, so that a mistake shows before there is a run folder.

    Raises:
        LatimerError: one could not be made.
    """
    make_callbacks(config.callbacks)
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
