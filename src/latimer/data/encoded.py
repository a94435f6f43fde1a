"""Pairs as ids: kept in one Arrow file, mapped into memory, and made into padded batches."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from latimer.errors import LatimerError
from latimer.tokenizer import BOS_ID, EOS_ID, PAD_ID

IDS = pa.large_list(pa.int32())


class Batch(NamedTuple):
    """Padded ids of B pairs, as the paper's model is taught (section 3.1).

    S and T are the longest of the batch, with one special id; rows are padded on the right with
    ``PAD_ID``. The decoder's input is the labels moved by one position to the right.
    """

    source: Tensor  # (B, S): pieces, end of sentence
    target_input: Tensor  # (B, T): begin of sentence, pieces
    labels: Tensor  # (B, T): pieces, end of sentence
    rows: Tensor  # (B,): which pairs these are


class Side:
    """The ids of one side of all pairs, end to end.

    Attributes:
        ids: all pieces of all sentences.
        offsets: where each sentence begins in ``ids``, and, last, where the last one ends.
        lengths: pieces of each sentence, without special ids.
    """

    def __init__(self, column: pa.LargeListArray) -> None:
        self.offsets: NDArray[np.int64] = column.offsets.to_numpy()
        self.ids: NDArray[np.int32] = column.values.to_numpy()
        self.lengths: NDArray[np.int64] = np.diff(self.offsets)

    def sentence(self, row: int) -> NDArray[np.int32]:
        """The ids of one sentence."""
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def padded(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Lays sentences under each other; a column more than the longest needs stays free."""
        lengths = self.lengths[rows]
        places = np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths, lengths)
        matrix = np.full((len(rows), lengths.max() + 1), PAD_ID, dtype=np.int64)
        inside = np.arange(matrix.shape[1]) < lengths[:, None]
        matrix[inside] = self.ids[np.repeat(self.offsets[rows], lengths) + places]
        return matrix


class EncodedPairs(Dataset[list[Batch]]):
    """The pairs of a split as ids of pieces; a data set whose items are lists of batches.

    Args:
        table: the columns "source" and "target", lists of ids without begin and end of sentence.
        path: the file that the table is mapped from; worker processes then map it too, and don't
            get a copy.

    Attributes:
        source: all sources.
        target: all targets.
    """

    def __init__(self, table: pa.Table, path: Path | None = None) -> None:
        self._table = table.combine_chunks()
        self._path = path
        self.source, self.target = (_side(self._table, name) for name in ("source", "target"))

    @classmethod
    def from_ids(cls, source: Iterable[Sequence[int]], target: Iterable[Sequence[int]]) -> Self:
        """Takes the ids of each source and each target, without begin and end of sentence."""
        columns = [pa.array(list(side), type=IDS) for side in (source, target)]
        return cls(pa.table(columns, names=["source", "target"]))

    @classmethod
    def open(cls, path: Path) -> Self:
        """Maps a file that :meth:`write` wrote; nothing is read until it is needed."""
        return cls(pa.ipc.open_file(pa.memory_map(str(path))).read_all(), path)

    def select(self, rows: NDArray[np.intp]) -> Self:
        """Some of the pairs, in the given order."""
        return type(self)(self._table.take(pa.array(rows)))

    def write(self, path: Path) -> None:
        """Writes the pairs as one Arrow record batch, so that they can be mapped in one piece."""
        with pa.ipc.new_file(str(path), self._table.schema) as file:
            file.write_table(self._table, max_chunksize=max(1, len(self)))

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, update: Sequence[Sequence[int]]) -> list[Batch]:
        return [self.collate(rows) for rows in update]

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._table,)) if self._path is None else (self.open, (self._path,))

    @property
    def source_lengths(self) -> NDArray[np.int64]:
        """Pieces of each source, without special ids."""
        return self.source.lengths

    @property
    def target_lengths(self) -> NDArray[np.int64]:
        """Pieces of each target, without special ids."""
        return self.target.lengths

    def collate(self, rows: Sequence[int]) -> Batch:
        """Makes a batch of the given pairs, in the given order."""
        chosen = np.asarray(rows, dtype=np.int64)
        source, labels = self.source.padded(chosen), self.target.padded(chosen)
        target_input = np.roll(labels, 1, axis=1)
        target_input[:, 0] = BOS_ID
        line = np.arange(len(chosen))
        source[line, self.source_lengths[chosen]] = EOS_ID
        labels[line, self.target_lengths[chosen]] = EOS_ID
        return Batch(*map(torch.from_numpy, (source, target_input, labels, chosen)))

    def check_ids(self, *, source_vocab_size: int, target_vocab_size: int) -> None:
        """Raises LatimerError when an id is not smaller than the vocabulary of its side.

        A device would say no more than that some assertion failed.
        """
        for side, vocab_size in (
            (self.source, source_vocab_size),
            (self.target, target_vocab_size),
        ):
            largest = int(side.ids.max(initial=0))
            if largest >= vocab_size:
                raise LatimerError(
                    f"the prepared corpus {self._path or 'in memory'} holds the id {largest}, and "
                    f"the vocabulary has only {vocab_size} pieces: they don't belong together"
                )


def _side(table: pa.Table, name: str) -> Side:
    column = table[name]
    return Side(column.chunk(0) if column.num_chunks else pa.array([], type=column.type))
