"""A run that goes on: its stored configuration, and what may be different from now on.

The configuration of a resumed run is the one in its folder, and over it what was written on the
command line this time, and nothing else: defaults that have changed since don't matter.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from latimer.config.check import check
from latimer.config.run import RunConfig
from latimer.errors import LatimerError

STORED = "config.yaml"
RECIPES = ("experiment", "debug")
FOR_NEW_RUNS = ("run_folder", "runs_folder", "init_from", "init_from_partial")


class Given(NamedTuple):
    """What was written on the command line.

    Attributes:
        settings: as Hydra was given them.
        groups: the names of all groups, such as "schedule".
    """

    settings: Sequence[str]
    groups: Collection[str]


NOTHING_GIVEN = Given((), ())


def run_to_resume(path: str, folder: Path) -> Path:
    """The folder of the run that is to go on.

    Args:
        path: as it was written.
        folder: where relative paths begin.

    Raises:
        LatimerError: that is no folder of a run; the message says what is nearby.
    """
    run = Path(path).expanduser()
    place = folder / run
    if (place / STORED).is_file():
        return run
    for above in (run.parent, run.parent.parent):
        if (folder / above / STORED).is_file():
            raise LatimerError(
                f"resume={path}: is a part of a run; write the run's folder: resume={above}"
            )
    if not place.exists():
        raise LatimerError(f"resume={path}: there is no such folder{_runs_near(place.parent)}")
    raise LatimerError(f"resume={path}: holds no run, for lack of {STORED}{_runs_near(place)}")


def _runs_near(folder: Path) -> str:
    found = sorted(file.parent for file in folder.glob(f"*/{STORED}"))[-3:]
    return "".join(["; runs are:", *(f"\n  {run}" for run in found)]) if found else ""


def stored_settings(run: Path, folder: Path) -> dict[str, Any]:
    """The configuration that a run has in its folder.

    Args:
        run: its folder.
        folder: the one that this command was given in. Relative paths of outputs are made absolute
            if the run was started in another.

    Raises:
        LatimerError: it can't be read, or isn't one of this version.
    """
    path = run / STORED
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise LatimerError(f"{path}: cannot be read: {error}") from error
    if not isinstance(settings, dict):
        raise LatimerError(f"{path}: is no configuration of a run")
    try:
        check(settings, RunConfig)
    except LatimerError as error:
        raise LatimerError(
            f"{path}: does not fit this version of latimer, and the run can't go on: {error}"
        ) from error
    return {**settings, **_elsewhere(run, folder, settings)}


def _elsewhere(run: Path, folder: Path, settings: dict[str, Any]) -> dict[str, str]:
    """The output folders as they are called from here."""
    try:
        environment = json.loads((run / "environment.json").read_text(encoding="utf-8"))
        launched = Path(environment["launch_folder"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    if launched == folder or not launched.is_dir():
        return {}
    return {key: str(launched / settings[key]) for key in ("runs_folder", "prepared_folder")}


def lay_over(stored: dict[str, Any], composed: DictConfig, given: Given) -> DictConfig:
    """The stored configuration, with what was written this time laid over it.

    Args:
        stored: of :func:`stored_settings`.
        composed: what Hydra made of defaults and command line.
        given: the command line.

    Raises:
        LatimerError: something was written that only a new run can have.
    """
    laid = OmegaConf.create({**stored, "mode": "new"})
    # Not resolved yet: a reference to another key means the key of this run, and not the default's.
    source = cast(dict[str, Any], OmegaConf.to_container(composed))
    for override in OverridesParser.create().parse_overrides(list(given.settings)):
        _refuse_what_is_for_new_runs(override)
        for key in _keys(override, given.groups):
            _lay(key, source, laid)
    return laid


def _refuse_what_is_for_new_runs(override: Override) -> None:
    key, value = override.key_or_group, override.value()
    if key in RECIPES and value is not None:
        raise LatimerError(
            f"{key}={value}: a resumed run has its own recipe; write the single keys that are to "
            "differ, or begin a new run"
        )
    if key in FOR_NEW_RUNS and value is not None:
        raise LatimerError(f"{key}={value}: is for new runs; a resumed one goes on in its folder")
    if (key, value) == ("mode", "overwrite"):
        raise LatimerError(
            "mode=overwrite deletes a run, and resume=... goes on with it: write one"
        )


def _keys(override: Override, groups: Collection[str]) -> Iterator[str]:
    """The dotted keys that a setting sets: all of a section if an option of a group was chosen."""
    key = override.package or override.key_or_group.replace("/", ".")
    if override.key_or_group in groups or override.is_delete():
        yield key
    elif not key.startswith("hydra."):
        yield from _leaves(key, override.value())


def _leaves(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from _leaves(f"{key}.{name}", item)
    else:
        yield key


def _lay(key: str, source: Mapping[str, Any], laid: DictConfig) -> None:
    *sections, leaf = key.split(".")
    node: Any = source
    for section in sections:
        node = node.get(section, {}) if isinstance(node, Mapping) else {}
    if isinstance(node, Mapping) and leaf in node:
        OmegaConf.update(laid, key, node[leaf], merge=False, force_add=True)
        return
    place = OmegaConf.select(laid, ".".join(sections)) if sections else laid
    if isinstance(place, DictConfig):  # it was deleted: ~key
        place.pop(leaf, None)
