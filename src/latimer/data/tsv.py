"""Tab-separated pairs: the source, a tab, the target; no header, no quoting."""

from collections.abc import Iterator

from latimer.data.lines import read_lines
from latimer.data.pairs import Pair
from latimer.errors import LatimerError


def read_tsv(path: str) -> Iterator[Pair]:
    """Yields a pair for each row, the first included.

    Raises:
        LatimerError: a row has more or fewer than two columns, or is no text.
    """
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 2:
            raise LatimerError(
                f"{path}, line {number}: {len(columns)} columns; "
                "write the source, one tab, and the target"
            )
        yield Pair(columns[0], columns[1], path, number)
