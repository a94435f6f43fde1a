"""The one rule of what a line of text is; every reader of files keeps it.

Only a line feed ends a line, and a carriage return right before it goes with it. Lone carriage
returns, form feeds, U+0085 and U+2028 are characters like any other: ``str.splitlines`` would cut
there, and shift one side of a corpus against the other. Text is UTF-8; a byte-order mark at the
beginning is no text.
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from latimer.errors import LatimerError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_lines(path: str | Path) -> Iterator[str]:
    """Yields the lines of a text file, plain or, when its name ends in ``.gz``, compressed.

    Raises:
        LatimerError: the file can't be read, or a line holds a NUL or a byte that is not UTF-8.
    """
    try:
        with _open(Path(path)) as stream:
            for number, line in enumerate(stream, start=1):
                yield decode_line(line, path, number)
    except FileNotFoundError as error:
        raise LatimerError(f"{path}: there is no such file") from error
    except (OSError, EOFError, zlib.error) as error:
        raise LatimerError(f"{path}: can't be read ({error})") from error


def one_line(text: object, where: str) -> str:
    r"""Checks a text out of a structured record and makes one line of it.

    JSON and Parquet can hold line ends inside a text. A translation has one line a pair, so they
    become spaces.

    Args:
        text: what the record holds.
        where: the place that an error names, such as ``"a.jsonl, line 3: 'en'"``.

    Raises:
        LatimerError: it is no text, or no text that a UTF-8 file could hold.
    """
    if not isinstance(text, str):
        raise LatimerError(f"{where} must be text, and is {text!r}")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise LatimerError(f"{where} holds a NUL or half a surrogate pair, which is no text")
    return text.replace("\r\n", " ").replace("\n", " ")


def decode_line(line: bytes, path: str | Path, number: int) -> str:
    """The text of one line.

    Args:
        line: its bytes, with or without its end.
        path: what an error calls the file.
        number: which line of the file it is, from 1.

    Raises:
        LatimerError: it holds a NUL or a byte that is not UTF-8.
    """
    if number == 1:
        line = line.removeprefix(BYTE_ORDER_MARK)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LatimerError(
            f"{path}, line {number}: byte 0x{line[error.start]:02X} is not UTF-8. "
            "Save the file as UTF-8, for example with `iconv -f latin1 -t utf-8`."
        ) from error
    if "\0" in text:
        raise LatimerError(f"{path}, line {number}: holds a NUL (byte 0x00); remove it")
    return text.removesuffix("\n").removesuffix("\r")


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
