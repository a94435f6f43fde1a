"""From what Hydra composed to a checked configuration; OmegaConf's objects go no further."""

from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from latimer.config.changes import refuse_changes
from latimer.config.check import check
from latimer.config.data import resolve_paths
from latimer.config.evaluate import EvaluateConfig
from latimer.config.resume import (
    NOTHING_GIVEN,
    Given,
    lay_over,
    run_to_resume,
    stored_settings,
)
from latimer.config.run import RunConfig
from latimer.errors import LatimerError

CHECKPOINTS = ("init_from", "init_from_partial")
OUTPUT_FOLDERS = ("run_folder", "runs_folder", "prepared_folder")


def run_config(composed: DictConfig, folder: Path, given: Given = NOTHING_GIVEN) -> RunConfig:
    """The checked configuration of a training run.

    Args:
        composed: what Hydra made of YAML files and overrides.
        folder: where relative paths of input files begin: the one the command was given in.
        given: the command line; a run that goes on (``resume``) takes nothing else of ``composed``.

    Raises:
        LatimerError: listing every mistake.
    """
    resume = composed.get("resume")
    if not isinstance(resume, str):
        return _resolve(check(plain(composed), RunConfig), folder)
    run = run_to_resume(resume, folder)
    stored = stored_settings(folder / run, folder)
    laid = lay_over(stored, composed, given)
    laid.resume = str(run)
    config = _resolve(check(plain(laid), RunConfig), folder)
    refuse_changes(check(stored, RunConfig), config)
    return config


def _resolve(config: RunConfig, folder: Path) -> RunConfig:
    """Makes the paths of input files absolute."""
    file = _absolute(config.tokenizer.file, folder)
    tokenizer = config.tokenizer.model_copy(update={"file": file})
    data = resolve_paths(config.data, folder)
    homes = {key: _at_home(getattr(config, key)) for key in OUTPUT_FOLDERS}
    checkpoints = {key: _absolute(getattr(config, key), folder) for key in CHECKPOINTS}
    return config.model_copy(update={"data": data, "tokenizer": tokenizer, **homes, **checkpoints})


def _absolute(path: str | None, folder: Path) -> str | None:
    return path and str((folder / Path(path).expanduser()).absolute())


def _at_home(path: str | None) -> str | None:
    """A path that begins with ``~`` made one of the user's home."""
    return path and str(Path(path).expanduser())


def evaluate_config(composed: DictConfig, folder: Path) -> EvaluateConfig:
    """The checked configuration of an evaluation; the rest is as in :func:`run_config`."""
    config = check(plain(composed), EvaluateConfig)
    if config.data is None:
        return config
    return config.model_copy(update={"data": resolve_paths(config.data, folder)})


def plain(composed: DictConfig) -> dict[str, Any]:
    """Dictionaries, lists and values, with all interpolations resolved.

    Raises:
        LatimerError: an interpolation leads nowhere.
    """
    try:
        container = OmegaConf.to_container(composed, resolve=True)
    except OmegaConfBaseException as error:
        reason = str(error).partition("\n")[0]
        raise LatimerError(f"{error.full_key}: {reason}") from None
    assert isinstance(container, dict)
    return {str(key): value for key, value in container.items()}
