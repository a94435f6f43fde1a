"""The files of a result: ``<folder>/<test set>/`` with translations, references and numbers."""

import json
import os
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Any

from latimer.errors import LatimerError
from latimer.evaluation.result import Result

TRANSLATIONS = "translations.txt"
REFERENCES = "references.txt"
RESULT = "result.json"
REPORT = "report.html"
COMPARISON = "report-{}.html"


def claim_folder(folder: Path, test_set: str, origin: dict[str, Any]) -> Path:
    """Makes ``folder/<test set>``, or finds it with a result of the same origin.

    Where another checkpoint, test set, search or scoring has left its result, the folder is
    ``<test set>-2``, ``-3``, …: no result is overwritten by a different one.

    Raises:
        LatimerError: the disk is full or cannot be written to.
    """
    for name in chain([test_set], (f"{test_set}-{number}" for number in count(2))):
        try:
            (folder / name).mkdir(parents=True)
        except FileExistsError:
            if not _is_of(origin, folder / name / RESULT):
                continue
        except OSError as error:
            raise _not_written(folder, error) from error
        return folder / name
    raise AssertionError("counting never ends")


def write_result(result: Result) -> None:
    """Writes the translations, the references and ``result.json`` into the result's folder.

    The references stand beside, one a line as the scores saw them, since not every corpus keeps
    them in a plain file: so sacrebleu's own command can repeat the scores. What a former evaluation
    said of the same translations beside those of other systems is kept.

    Raises:
        LatimerError: the disk is full or cannot be written to.
    """
    numbers = result.as_json()
    numbers["compared_with"] = [*_other_comparisons(result), *numbers["compared_with"]]
    written = json.dumps(numbers, indent=2, ensure_ascii=False) + "\n"
    try:
        _write(result.folder / TRANSLATIONS, _as_lines(result.texts))
        _write(result.folder / REFERENCES, _as_lines(result.references))
        _write(result.folder / RESULT, written)
    except OSError as error:
        raise _not_written(result.folder, error) from error


def report_path(results: Sequence[Result]) -> Path:
    """Where the page about one or several systems is written: beside the first one's result.

    The name of a page about several tells which others it is about, so that neither the page about
    the first one alone nor that about yet others is lost.
    """
    others = [result.origin for result in results[1:]]
    named = sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()[:8]
    return results[0].folder / (COMPARISON.format(named) if others else REPORT)


def _other_comparisons(result: Result) -> list[Any]:
    """Those in the file that stands there, if its translations are the same."""
    try:
        former = json.loads((result.folder / RESULT).read_text(encoding="utf-8"))
        texts = (result.folder / TRANSLATIONS).read_bytes()
    except (OSError, ValueError):
        return []
    if texts != _as_lines(result.texts).encode():
        return []
    anew = result.compared_with and result.compared_with["result"]
    return [one for one in former.get("compared_with", []) if one["result"] != anew]


def _is_of(origin: dict[str, Any], path: Path) -> bool:
    try:
        former = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return all(former.get(key) == value for key, value in origin.items())


def _as_lines(texts: Iterable[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


def _write(path: Path, text: str) -> None:
    """Writes aside, then renames."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        aside.write_text(text, encoding="utf-8", newline="\n")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _not_written(folder: Path, error: OSError) -> LatimerError:
    return LatimerError(f"{folder}: the results could not be written ({error.strerror})")
