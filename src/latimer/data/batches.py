"""Which pairs go into which batch, and in which order: similar lengths together, under a budget."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import Sampler

from latimer.data.encoded import EncodedPairs
from latimer.errors import LatimerError

Update = list[list[int]]


class TokenBatches(Sampler[Update]):
    """The optimizer updates of an epoch, each a list of micro-batches, each a list of rows.

    The order is a pure function of seed and epoch: the pairs are shuffled and stably sorted by
    the length of their longer side, cut into micro-batches, and those are shuffled. Every pair
    stands in exactly one micro-batch of an epoch. Where the cuts fall doesn't depend on the epoch,
    so neither does the number of updates.

    Processes take turns: of n, each takes every n-th micro-batch. For the counts to be equal,
    the widest micro-batches are halved until their number is a multiple of n. Only the last update
    of an epoch may have fewer micro-batches than the others.

    The micro-batch with the most cells comes first in every epoch, so that too little memory
    shows at once and not after hours.

    Iterating yields the updates that are left of the current epoch, and :meth:`mark_done` tells
    that one was trained on: what a loader fetches in advance doesn't count. There is no
    ``set_epoch`` on purpose. Lightning would call it with its own count of epochs, which also
    counts one that a limit of updates cut short.

    Args:
        pairs: the training split.
        max_tokens: cells of a micro-batch's longer side, padding and one special id a sentence
            included: rows × max(S, T). A longer pair gets a micro-batch of its own.
        accumulation: micro-batches of an update in each process.
        seed: chooses the order.
        rank: which process this is, from 0.
        world_size: how many processes train together.

    Attributes:
        epoch: the current one, from 0.
        updates_done: how many of its updates have been trained on.

    Raises:
        LatimerError: the pairs are too few for that many processes.
    """

    def __init__(  # noqa: PLR0913 (all plain numbers, by name)
        self,
        pairs: EncodedPairs,
        *,
        max_tokens: int,
        accumulation: int = 1,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        self._pairs, self._costs = pairs, _costs(pairs)
        sorted_costs = self._costs[_longest_first(self._costs)]
        self._cuts = _equal_shares(_cuts(sorted_costs, max_tokens), world_size)
        self._largest = (np.diff(self._cuts) * sorted_costs[self._cuts[:-1]]).argmax()
        self._accumulation, self._seed = accumulation, seed
        self._rank, self._world_size = rank, world_size
        self.epoch, self.updates_done = 0, 0

    def __len__(self) -> int:
        """The updates of a whole epoch."""
        micro_batches = (len(self._cuts) - 1) // self._world_size
        return math.ceil(micro_batches / self._accumulation)

    def __iter__(self) -> Iterator[Update]:
        rows, order = self._shuffled()
        share = order[self._rank :: self._world_size]
        for update in range(self.updates_done, len(self)):
            start = update * self._accumulation
            yield [
                rows[self._cuts[number] : self._cuts[number + 1]].tolist()
                for number in share[start : start + self._accumulation]
            ]

    def mark_done(self) -> None:
        """Moves on by one update; after the last one of an epoch, to the next epoch."""
        self.updates_done += 1
        if self.updates_done == len(self):
            self.epoch, self.updates_done = self.epoch + 1, 0

    def state_dict(self) -> dict[str, int]:
        """The position in the training data."""
        return {"epoch": self.epoch, "updates_done": self.updates_done}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to a position that :meth:`state_dict` gave."""
        self.epoch, self.updates_done = state["epoch"], state["updates_done"]

    def padding_share(self) -> float:
        """The share of padding in all cells of the current epoch, both sides together."""
        rows, _ = self._shuffled()
        sides = [
            lengths[rows] + 1
            for lengths in (self._pairs.source_lengths, self._pairs.target_lengths)
        ]
        widths = [np.maximum.reduceat(side, self._cuts[:-1]) for side in sides]
        cells = np.diff(self._cuts) * np.sum(widths, axis=0)
        return float(1 - np.sum(sides) / cells.sum())

    def _shuffled(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows in the order that is cut, and the order of the micro-batches, of this epoch."""
        dice = np.random.default_rng([self._seed, self.epoch])
        rows = dice.permutation(len(self._costs))
        rows = rows[_longest_first(self._costs[rows])]
        order = dice.permutation(len(self._cuts) - 1)
        order[order == self._largest] = order[0]
        order[0] = self._largest
        return rows, order


def ordered_batches(pairs: EncodedPairs, max_tokens: int) -> list[list[int]]:
    """The batches of a validation: every pair once, always in the same order, longest first.

    Args:
        pairs: the validation split.
        max_tokens: as in :class:`TokenBatches`.
    """
    costs = _costs(pairs)
    rows = _longest_first(costs)
    cuts = _cuts(costs[rows], max_tokens)
    return [rows[start:end].tolist() for start, end in pairwise(cuts)]


def _costs(pairs: EncodedPairs) -> NDArray[np.int64]:
    """Cells that a pair needs of the longer side, the special id included."""
    return np.maximum(pairs.source_lengths, pairs.target_lengths) + 1


def _longest_first(costs: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.argsort(-costs, kind="stable")


def _cuts(costs: NDArray[np.int64], max_tokens: int) -> NDArray[np.int64]:
    """Where micro-batches begin, and the end; the costs must be sorted, the largest first."""
    cuts = [0]
    while cuts[-1] < len(costs):
        cuts.append(cuts[-1] + max(1, max_tokens // int(costs[cuts[-1]])))
    return np.minimum(cuts, len(costs))


def _equal_shares(cuts: NDArray[np.int64], world_size: int) -> NDArray[np.int64]:
    """Halves the widest micro-batches until their number is a multiple of ``world_size``."""
    while (len(cuts) - 1) % world_size:
        widest = np.diff(cuts).argmax()
        middle = (cuts[widest] + cuts[widest + 1]) // 2
        if middle == cuts[widest]:
            raise LatimerError(
                f"{cuts[-1]} training pairs, each a micro-batch of its own, can't be shared "
                f"equally among {world_size} processes; write a larger batches.max_tokens, "
                "or train in fewer processes"
            )
        cuts = np.insert(cuts, widest + 1, middle)
    return cuts
