"""BPE-dropout: each epoch cuts the training text differently (Provilkov et al., ACL 2020)."""

from collections.abc import Iterator
from random import Random

import torch
from torch.utils.data import Dataset, Sampler

from latimer.data.batches import TokenBatches, Update
from latimer.data.encoded import Batch, EncodedPairs
from latimer.tokenizer import BpeDropout, Tokenizers

UpdateOfEpoch = tuple[int, Update]


class BpeDropoutPairs(Dataset[list[Batch]]):
    """The training pairs, with each merge of byte-pair encoding left out with a probability.

    How a pair is cut is a pure function of the run's seed, the epoch and the pair: neither batches,
    processes and workers nor a stop and a resume change it. A side that would become longer than
    ``max_length`` stays as it is.

    Args:
        pairs: the pairs, cut without dropout.
        tokenizers: what cut them, of byte-pair encoding.
        dropout: the probability, 0 < p <= 1; with 1, all is cut into characters.
        seed: of the run.
        max_length: most pieces of a side, the end of sentence included.
    """

    def __init__(
        self,
        pairs: EncodedPairs,
        tokenizers: Tokenizers,
        *,
        dropout: float,
        seed: int,
        max_length: int,
    ) -> None:
        self._pairs, self._seed, self._max_length = pairs, seed, max_length
        self._source, self._target = (BpeDropout(one, dropout) for one in tokenizers)

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, update: UpdateOfEpoch) -> list[Batch]:
        epoch, micro_batches = update
        return [self._collate(rows, epoch) for rows in micro_batches]

    def _collate(self, rows: list[int], epoch: int) -> Batch:
        cut = [self._cut(row, Random(f"{self._seed} {epoch} {row}")) for row in rows]
        batch = EncodedPairs.from_ids(*zip(*cut, strict=True)).collate(range(len(rows)))
        return batch._replace(rows=torch.tensor(rows))

    def _cut(self, row: int, random: Random) -> list[list[int]]:
        """The source and the target of a pair."""
        cut = []
        for side, dropout in (
            (self._pairs.source, self._source),
            (self._pairs.target, self._target),
        ):
            plain = side.sentence(row).tolist()
            sampled = dropout.cut(plain, random)
            cut.append(sampled if len(sampled) < self._max_length else plain)
        return cut


class WithEpoch(Sampler[UpdateOfEpoch]):
    """The updates of a sampler, each with the number of the epoch that it belongs to."""

    def __init__(self, batches: TokenBatches) -> None:
        self._batches = batches

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[UpdateOfEpoch]:
        epoch = self._batches.epoch
        return ((epoch, update) for update in self._batches)
