"""JSON Lines: one object a line, ``{"en": …, "de": …}`` or ``{"translation": {…}}``."""

import json
from collections.abc import Iterator
from typing import Any

from latimer.data.lines import one_line, read_lines
from latimer.data.pairs import Pair
from latimer.errors import LatimerError


def read_json_lines(path: str, *, source_language: str, target_language: str) -> Iterator[Pair]:
    """Yields a pair for each line; the keys are the two languages.

    Raises:
        LatimerError: a line is no JSON object, lacks a language, or holds no text for it.
    """
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}, line {number}"
        record = _record(line, where)
        source, target = (
            _text(record, language, where) for language in (source_language, target_language)
        )
        yield Pair(source, target, path, number)


def _record(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise LatimerError(f"{where}: not JSON ({error.msg}); write one object a line") from error
    if isinstance(record, dict):
        record = record.get("translation", record)
    if not isinstance(record, dict):
        raise LatimerError(f"{where}: not a JSON object; write one object a line")
    return record


def _text(record: dict[str, Any], language: str, where: str) -> str:
    if language not in record:
        found = ", ".join(map(repr, record)) or "none"
        raise LatimerError(f"{where}: no key {language!r} (the keys are: {found})")
    return one_line(record[language], f"{where}: {language!r}")
