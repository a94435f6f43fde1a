"""Hydra's errors, told in our words."""

import difflib
import re
import sys
from pathlib import Path

from hydra.errors import MissingConfigException, OverrideParseException

from latimer.config.arguments import quoted
from latimer.config.base import Section
from latimer.config.names import known_keys, nearest


def explain(error: Exception, schema: type[Section]) -> str:
    """What was wrong on the command line or in a YAML file, and what to write instead."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        return _no_such_option(error.missing_cfg_file, list(error.options))
    if isinstance(error, OverrideParseException):
        return _unreadable(error.override)
    text = str(error).replace("++", "")  # of leave_to_schema
    if match := re.match("Ambiguous value for argument '(.*)'\n", text):
        return _several_values(match[1])
    if match := re.match("Could not override '(.*?)'", text):
        return _no_such_key(match[1], schema)
    cause = str(error.__cause__ or "").partition("\n")[0]
    return ": ".join(filter(None, [text, cause]))


def _no_such_option(path: str, options: list[str]) -> str:
    group, _, name = path.rpartition("/")
    if group.startswith("experiment/"):  # its folders are no groups, but parts of the names
        group, name = "experiment", path.removeprefix("experiment/")
    if group == "experiment":
        options = _recipes()
    close = difflib.get_close_matches(name, options, n=1)
    advice = f"; did you mean {close[0]}?" if close else "."
    return f"{group}={name}: no such option{advice} There are: {', '.join(sorted(options))}"


def _recipes() -> list[str]:
    """The experiments beside the script, in all folders."""
    folder = Path(sys.argv[0]).absolute().parent / "conf" / "experiment"
    return [str(file.relative_to(folder).with_suffix("")) for file in folder.rglob("*.yaml")]


def _unreadable(argument: str) -> str:
    argument = argument.lstrip("+")
    if "=" not in argument:
        return f"{argument}: settings are written key=value"
    return f"{argument}: can't be read; if the value is one text, quote it: {quoted(argument)}"


def _several_values(argument: str) -> str:
    key, _, values = argument.lstrip("+").partition("=")
    return (
        f"{key}={values}: several values are a sweep, which needs -m; "
        f"if the value is one text, quote it: {quoted(argument)}; "
        f"if it is a list: '{key}=[{values}]'"
    )


def _no_such_key(key: str, schema: type[Section]) -> str:
    meant = nearest(key, known_keys(schema))
    return f"{key}: unknown key" + (f"; did you mean {meant}?" if meant else "")
