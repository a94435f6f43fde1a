"""Pairs of texts, one by one and as a table in memory."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from datasets import Dataset
from numpy.typing import NDArray

SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("target", pa.string()),
        ("file", pa.string()),
        ("line", pa.int64()),
    ]
)
ROWS_AT_ONCE = 50_000


class Pair(NamedTuple):
    """A text, its translation, and where they come from: file and 1-based line."""

    source: str
    target: str
    file: str
    line: int


def dataset_of(pairs: Iterable[Pair]) -> Dataset:
    """Collects pairs in Arrow's compact memory, with the columns source, target, file and line.

    Nothing is cached on disk, so a changed file is never answered with its old text.
    """
    rest = iter(pairs)
    batches = []
    while rows := list(islice(rest, ROWS_AT_ONCE)):
        columns = [
            pa.array(column, field.type)
            for column, field in zip(zip(*rows, strict=True), SCHEMA, strict=True)
        ]
        batches.append(pa.record_batch(columns, schema=SCHEMA))
    return Dataset(pa.Table.from_batches(batches, schema=SCHEMA))


def texts(pairs: Dataset) -> Iterator[tuple[str, str]]:
    """Yields (source, target) of every pair in order, without holding them all as Python text."""
    arrow = pairs.select_columns(["source", "target"]).with_format("arrow")
    for table in arrow.iter(batch_size=ROWS_AT_ONCE):
        yield from zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True)


def subset(pairs: Dataset, rows: Sequence[int] | NDArray[np.intp]) -> Dataset:
    """Some of the pairs in memory of their own.

    ``Dataset.select`` notes their numbers alone, and looks each pair up by itself whenever it is
    read.

    Args:
        pairs: all of them.
        rows: which to keep, in rising order.
    """
    if len(rows) == len(pairs):
        return pairs
    numbers = np.asarray(rows, dtype=np.int64)
    chosen, first = [], 0
    for table in pairs.with_format("arrow").iter(batch_size=ROWS_AT_ONCE):
        begin, end = np.searchsorted(numbers, [first, first + len(table)])
        chosen.append(table.take(pa.array(numbers[begin:end] - first)))
        first += len(table)
    return Dataset(pa.concat_tables(chosen))
