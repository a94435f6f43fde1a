"""The arguments of a command line, before Hydra reads them."""

import re
import shlex
from collections.abc import Collection, Sequence
from itertools import pairwise

from latimer.config.base import Section
from latimer.config.names import known_keys, nearest
from latimer.errors import LatimerError

HYDRA_FLAGS = frozenset(
    [
        *("--help", "-h", "--hydra-help", "--version", "--info", "-i"),
        *("--cfg", "-c", "--resolve", "--package", "-p"),
        *("--run", "-r", "--multirun", "-m", "--experimental-rerun"),
        *("--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd"),
        *("--shell-completion", "-sc"),
    ]
)


def refuse_dashes(arguments: Sequence[str], schema: type[Section]) -> None:
    """Settings have no dashes here: only Hydra's own flags do.

    Raises:
        LatimerError: with the setting as it is written here, if one can guess it.
    """
    for argument, following in pairwise([*arguments, ""]):
        flag, _, value = argument.partition("=")
        if not flag.startswith("-") or flag in HYDRA_FLAGS:
            continue
        if not value and "=" not in following and not following.startswith("-"):
            value = following
        key = nearest(flag.lstrip("-").replace("-", "_"), known_keys(schema)) or "key"
        raise LatimerError(
            f"{flag}: settings are written without dashes; write {key}={value or '...'}"
        )


def leave_to_schema(argument: str, groups: Collection[str]) -> str:
    """Lets Hydra take a key that no YAML file has (its ``++``); the schema will judge it.

    Hydra alone would stop at the first unknown key and advise to add it with a ``+``. The choice of
    an option of a group stays as it is.
    """
    key, equals, _ = argument.partition("=")
    of_ours = re.fullmatch(r"[A-Za-z_][\w.-]*", key) and not key.startswith("hydra.")
    return f"++{argument}" if equals and of_ours and key not in groups else argument


def quoted(argument: str) -> str:
    """The argument ``key=value`` as a shell must be given it, so that Hydra takes value as text."""
    key, _, value = argument.partition("=")
    text = value.replace("\\", "\\\\").replace('"', '\\"')
    return shlex.quote(f'{key.lstrip("+")}="{text}"')


def as_argument(key: str, value: object) -> str:
    """``key=value`` as one can type it after a command: quoted only where it has to be."""
    plain = re.fullmatch(r"[\w./-]+", str(value), re.ASCII)
    return f"{key}={value}" if plain else quoted(f"{key}={value}")
