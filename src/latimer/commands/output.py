"""Where lines are written to: standard output, or a file that is there when it is complete."""

import gzip
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from latimer.errors import LatimerError


class Output:
    """Takes lines, and writes them in UTF-8, whatever the locale.

    Args:
        stream: where to.
        name: what messages call it.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.stream = stream
        self.name = name

    def write(self, lines: Iterable[str]) -> None:
        """Writes lines, and hands them on to whoever waits for them.

        Raises:
            BrokenPipeError: nobody reads them any more.
            LatimerError: the disk is full or cannot be written to.
        """
        with _explained(self.name):
            self.stream.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
            self.stream.flush()


@contextmanager
def open_output(path: Path | None) -> Iterator[Output]:
    """Standard output, or a file: written aside, and renamed if nothing went wrong meanwhile.

    A file is compressed if its name ends in ``.gz``. What is no plain file, such as ``/dev/null``
    or a named pipe, is written to where it is.

    Raises:
        LatimerError: it cannot be written to.
    """
    if path is None:
        with _standard_output() as stream:
            yield Output(stream, "standard output")
        return
    with _explained(str(path)):
        opened = path.open("wb") if path.exists() and not path.is_file() else _aside(path.resolve())
        with opened as stream:
            yield Output(stream, str(path))


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    if sys.stdout is None:
        raise LatimerError("standard output is closed; write --output and a file")
    try:
        yield sys.stdout.buffer
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            # Python would try again when it ends, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _aside(path: Path) -> Iterator[BinaryIO]:
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with aside.open("wb") as plain:
            if path.suffix == ".gz":
                with gzip.GzipFile(path.stem, "wb", fileobj=plain) as stream:
                    yield cast(BinaryIO, stream)
            else:
                yield plain
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LatimerError(f"{name}: cannot be written to ({error.strerror})") from error
