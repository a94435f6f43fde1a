"""How translations begin where a person says so: a line of prefixes for each line of the input."""

from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

from latimer.data.chunks import LineInput
from latimer.errors import LatimerError

CHUNK = 1000


class Prefixes:
    """Hands out the prefixes of some lines after those of others, and holds a chunk of them.

    Args:
        path: a text file, plain or ``.gz``; None for standard input.
        chunk: how many are read at a time.

    Attributes:
        name: what messages call it.
        taken: those handed out so far.

    Raises:
        LatimerError: there is no such file.
    """

    def __init__(self, path: Path | None, chunk: int = CHUNK) -> None:
        source = LineInput(path)
        self.path = path
        self.name = source.name
        self.taken = 0
        self._rest = chain.from_iterable(source.chunks(chunk))

    def take(self, lines: int) -> list[str]:
        """Those of the next lines.

        Raises:
            LatimerError: there are not so many.
        """
        prefixes = list(islice(self._rest, lines))
        if len(prefixes) < lines:
            there_are = f"{self.taken + len(prefixes):,}"
            raise self._unequal(there_are, f"at least {self.taken + lines:,}")
        self.taken += lines
        return prefixes

    def check_end(self) -> None:
        """After the last line.

        Raises:
            LatimerError: there are prefixes left.
        """
        if next(self._rest, None) is not None:
            raise self._unequal(f"at least {self.taken + 1:,}", f"{self.taken:,}")

    def check_count(self, inputs: Sequence[Path]) -> None:
        """Before anything is translated, where all can be counted: where all are files.

        Args:
            inputs: the files; standard input is none of them.

        Raises:
            LatimerError: there is not one prefix for each line of these inputs, or one is no text.
        """
        prefixes = count_lines([self.path]) if self.path else None
        lines = count_lines(inputs)
        if None not in (prefixes, lines) and prefixes != lines:
            raise self._unequal(f"{prefixes:,}", f"{lines:,}")

    def _unequal(self, prefixes: str, lines: str) -> LatimerError:
        return LatimerError(
            f"--prefixes {self.name}: there are {prefixes} prefixes, but {lines} lines of input; "
            "write one for each, and an empty one for a translation that is free"
        )


def count_lines(paths: Sequence[Path]) -> int | None:
    """How many lines some files have; None where one of them can be read only once."""
    inputs = [LineInput(path) for path in paths]
    if any(each.size is None for each in inputs):
        return None
    return sum(len(lines) for each in inputs for lines in each.chunks(CHUNK))
