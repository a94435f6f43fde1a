"""Checks what was written against the schema, and tells every mistake at once."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from latimer.config.base import Section
from latimer.config.names import choices_with, known_keys, nearest
from latimer.errors import LatimerError

S = TypeVar("S", bound=Section)

ALLOWED = {
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text",
    "list_type": "must be a list, such as [a, b]",
    "dict_type": "must be a section with keys of its own",
    "model_type": "must be a section with keys of its own",
    "model_attributes_type": "must be a section with keys of its own",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "literal_error": "must be {expected}",
    "union_tag_invalid": "must be one of {expected_tags}",
    "value_error": "{error}",
}
"""Pydantic's kinds of error in our words; it fills in the values of the schema."""
QUOTED = ("literal_error", "union_tag_invalid", "union_tag_not_found")


def check(raw: Mapping[str, Any], section: type[S]) -> S:
    """Makes the typed section of what was written.

    A value that is still ``???`` counts as not given.

    Raises:
        LatimerError: listing every mistake: the key, the value, and what is allowed instead.
    """
    given = _without_missing(raw)
    try:
        return section.model_validate(given)
    except ValidationError as invalid:
        mistakes = [_describe(error, given, section) for error in invalid.errors()]
    if len(mistakes) == 1:
        raise LatimerError(mistakes[0])
    heading = f"{len(mistakes)} mistakes in the configuration:"
    raise LatimerError("\n  ".join([heading, *mistakes]))


def _without_missing(raw: Any) -> Any:
    if not isinstance(raw, Mapping):
        return raw
    return {key: _without_missing(value) for key, value in raw.items() if value != "???"}


def _describe(error: ErrorDetails, raw: Mapping[str, Any], section: type[Section]) -> str:
    """One mistake in one line."""
    kind, key, value, words = error["type"], _key(error, raw), error["input"], error.get("ctx", {})
    if kind in QUOTED:
        words = {name: str(word).replace("'", "") for name, word in words.items()}
    if kind.startswith("union_tag"):
        key, value = f"{key}.{words['discriminator']}", words.get("tag")
    if kind == "missing" or (value is None and kind != "value_error"):
        return f"{key}: has no value; write {key}=..."
    if kind == "extra_forbidden":
        return _describe_unknown(key, value, raw, section)
    allowed = ALLOWED.get(kind)
    return f"{_show(key, value)}: {allowed.format(**words) if allowed else error['msg']}"


def _key(error: ErrorDetails, raw: Any) -> str:
    """The dotted key as it is written, without the names of union members that pydantic adds."""
    *path, last = error["loc"]
    if last == "[key]":  # the name of an entry is wrong, and stands before it
        path.pop()
    parts: list[str] = []
    node = raw
    for part in path:
        if part in node:
            parts.append(str(part))
            node = node[part]
    if error["type"] == "missing" or last in node:
        parts.append(str(last))
    return ".".join(parts)


def _describe_unknown(key: str, value: Any, raw: Mapping[str, Any], section: type[Section]) -> str:
    known = known_keys(section, raw)
    parent = key.rpartition(".")[0]
    siblings = ", ".join(name for name in known if name.rpartition(".")[0] == parent)
    if key in known_keys(section):
        return (
            f"{_show(key, value)}: not a key of the chosen {parent}, which has {siblings}; "
            f"it belongs to {', '.join(choices_with(section, key))}"
        )
    meant = nearest(key, known)
    advice = f"did you mean {meant}?" if meant else f"known are {siblings}"
    return f"{_show(key, value)}: unknown key; {advice}"


def _show(key: str, value: Any) -> str:
    """The key, and its value as one writes it, unless that is a whole section."""
    if isinstance(value, Mapping | list):
        return key
    written = json.dumps(value) if value is None or isinstance(value, bool) else value
    return f"{key}={written}"
