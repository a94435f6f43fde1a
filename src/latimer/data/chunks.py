"""Lines as they arrive, in chunks: full ones of a file, small ones where someone waits for answers.

The rule of what a line is stands in :mod:`latimer.data.lines`.
"""

import gzip
import io
import os
import select
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from latimer.data.lines import decode_line
from latimer.errors import LatimerError

STANDARD_INPUT = "standard input"
BLOCK = 1 << 16
# Too short to be noticed by a person, long enough for a program to fill an empty pipe again.
PATIENCE = 0.05


class LineInput:
    """A text file, plain or ``.gz``, or standard input.

    Args:
        path: the file; None for standard input.

    Attributes:
        name: what messages call it.
        size: its bytes; None where nobody knows them, as of a pipe.
        position: the bytes of the lines so far; of a compressed file a little more.

    Raises:
        LatimerError: there is no such file, or it is not to be read.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.name = STANDARD_INPUT if path is None else str(path)
        self.size = self._find_size()
        self.position = 0

    def chunks(self, lines: int) -> Iterator[list[str]]:
        """Yields all lines, so many at a time, or fewer where more are slow to come.

        No more is read ahead than a chunk and a block of 64 KiB.

        Raises:
            LatimerError: the input can't be read, or a line is no text; the lines before it have
                been yielded.
        """
        number = 1
        try:
            with self._open() as (raw, stream):
                for chunk in chunks_of_lines(stream, lines):
                    compressed = stream is not raw
                    read = sum(len(line) + 1 for line in chunk)
                    self.position = raw.tell() if compressed else self.position + read
                    yield from self._decode(chunk, number)
                    number += len(chunk)
        except (OSError, EOFError, zlib.error) as error:
            raise LatimerError(f"{self.name}: can't be read ({error})") from error

    def _decode(self, chunk: list[bytes], first: int) -> Iterator[list[str]]:
        lines: list[str] = []
        for number, line in enumerate(chunk, first):
            try:
                lines.append(decode_line(line, self.name, number))
            except LatimerError:
                if lines:
                    yield lines
                raise
        yield lines

    def _find_size(self) -> int | None:
        if self.path is None:
            if sys.stdin is None:
                raise LatimerError("standard input is closed; name a file, or pipe text in")
            return _size(sys.stdin.buffer)
        try:
            found = self.path.stat()
        except OSError as error:
            raise LatimerError(f"{self.path}: can't be read ({error.strerror})") from error
        if self.path.is_dir() or not os.access(self.path, os.R_OK):
            raise LatimerError(
                f"{self.path}: can't be read; name a text file that is yours to read"
            )
        return found.st_size if stat.S_ISREG(found.st_mode) else None

    @contextmanager
    def _open(self) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """The bytes as they are stored, and as they are meant."""
        if self.path is None:
            yield sys.stdin.buffer, sys.stdin.buffer
            return
        with self.path.open("rb") as raw:
            if self.path.suffix == ".gz":
                yield raw, cast(BinaryIO, gzip.GzipFile(fileobj=raw))
            else:
                yield raw, raw


def chunks_of_lines(stream: BinaryIO, lines: int) -> Iterator[list[bytes]]:
    """Cuts bytes into chunks of at most so many lines, without their line feeds.

    A chunk is yielded before it is full when nothing more comes for a twentieth of a second: so a
    person at a terminal, or a program that waits for each answer, is answered.
    """
    chunk: list[bytes] = []
    begun, deadline = b"", 0.0
    while block := stream.read1(BLOCK):  # type: ignore[attr-defined]
        if not chunk:
            deadline = time.monotonic() + PATIENCE
        *ended, begun = (begun + block).split(b"\n")
        chunk += ended
        while len(chunk) >= lines:
            yield chunk[:lines]
            chunk = chunk[lines:]
        if chunk and not _more_comes(stream, deadline - time.monotonic()):
            yield chunk
            chunk = []
    if begun:
        chunk.append(begun)
    if chunk:
        yield chunk


def _more_comes(stream: BinaryIO, seconds: float) -> bool:
    """Whether there is more to read, or the end of it, within some time."""
    try:
        ready, _, _ = select.select([stream], [], [], max(seconds, 0.0))
    except io.UnsupportedOperation:  # bytes in memory
        return True
    except OSError:  # a system on which only sockets can be waited for
        return False
    return bool(ready)


def _size(stream: BinaryIO) -> int | None:
    try:
        found = os.fstat(stream.fileno())
    except io.UnsupportedOperation:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None
