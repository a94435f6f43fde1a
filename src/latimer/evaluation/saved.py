"""What earlier runs and evaluations left on the disk."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from latimer.config.arguments import as_argument
from latimer.errors import LatimerError
from latimer.evaluation.files import REFERENCES, RESULT, TRANSLATIONS


@dataclass(frozen=True)
class SavedResult:
    """The files of one result.

    Attributes:
        folder: where they are.
        numbers: what ``result.json`` holds.
        translations: a line for each sentence.
        references: as many.
    """

    folder: Path
    numbers: Mapping[str, Any]
    translations: list[str]
    references: list[str]


@dataclass(frozen=True)
class SavedRun:
    """A run that has been evaluated.

    Attributes:
        folder: the run folder.
        config: what ``config.yaml`` holds.
        results: by the name of their folder: the test set's, often.
    """

    folder: Path
    config: Mapping[str, Any]
    results: Mapping[str, SavedResult]


def read_run(folder: Path) -> SavedRun:
    """Reads a run's configuration and all of its results.

    Raises:
        LatimerError: this is no run, it was not evaluated, or a file of it is missing or broken.
    """
    if not (folder / "config.yaml").is_file():
        raise LatimerError(f"{folder}: is no run, since it has no config.yaml; {_advice(folder)}")
    evaluations = sorted(path.parent for path in folder.glob(f"evaluation/*/{RESULT}"))
    if not evaluations:
        raise LatimerError(
            f"{folder}: has no evaluation; once its training has ended, write "
            f"python evaluate.py {as_argument('checkpoint', folder)}"
        )
    config = _parse(folder / "config.yaml", yaml.safe_load)
    return SavedRun(folder, config, {path.name: _read_result(path) for path in evaluations})


def _advice(folder: Path) -> str:
    if any(folder.glob("*/config.yaml")):
        return f"the folders in it are: write {folder}/*"
    return "write the path of a run folder, such as runs/enm-en/2025-01-31_12-00-00"


def _read_result(folder: Path) -> SavedResult:
    numbers = _parse(folder / RESULT, json.loads)
    translations, references = (_lines(folder / name) for name in (TRANSLATIONS, REFERENCES))
    if not len(translations) == len(references) == numbers["sentences"]:
        raise LatimerError(
            f"{folder}: {TRANSLATIONS} has {len(translations):,} lines and {REFERENCES} "
            f"{len(references):,}, but {RESULT} tells of {numbers['sentences']:,}; evaluate again"
        )
    return SavedResult(folder, numbers, translations, references)


def _parse(path: Path, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(_read(path))
    except (ValueError, yaml.YAMLError) as error:
        raise LatimerError(f"{path}: is broken ({error})") from error


def _lines(path: Path) -> list[str]:
    """The lines as they were written: nothing but a line feed ends one."""
    return _read(path).removesuffix("\n").split("\n")


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LatimerError(f"{path}: cannot be read ({error})") from error
