"""Translating without end: lines come in and translations go out, a chunk at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice

CHUNK = 1000
"""Lines that are read before the first of them is answered, where nobody says another number."""


def in_chunks(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yields all lines in lists of this size, the last one perhaps shorter.

    No line is asked for before the chunks before its own have been taken.

    Raises:
        ValueError: the size is less than 1.
    """
    if size < 1:
        raise ValueError(f"a chunk has at least one line, not {size}")
    rest = iter(lines)
    while chunk := list(islice(rest, size)):
        yield chunk
