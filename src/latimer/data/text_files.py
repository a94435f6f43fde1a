"""Two aligned text files: line n of the one is the translation of line n of the other."""

from collections.abc import Iterator
from itertools import zip_longest

from latimer.data.lines import read_lines
from latimer.data.pairs import Pair
from latimer.errors import LatimerError


def read_aligned(source: str, target: str) -> Iterator[Pair]:
    """Yields the pairs of two files with equally many lines.

    Raises:
        LatimerError: one file is longer than the other, or a line is no text.
    """
    lines = zip_longest(read_lines(source), read_lines(target))
    for number, (source_line, target_line) in enumerate(lines, start=1):
        if source_line is None or target_line is None:
            raise _unequal(source, target)
        yield Pair(source_line, target_line, source, number)


def _unequal(source: str, target: str) -> LatimerError:
    counts = [sum(1 for _ in read_lines(path)) for path in (source, target)]
    return LatimerError(
        f"{source} has {counts[0]} lines and {target} has {counts[1]}: "
        "line n of one must be the translation of line n of the other"
    )
