"""Batches as they are needed, made in this process or in workers."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader

from latimer.data.batches import TokenBatches, ordered_batches
from latimer.data.bpe_dropout import BpeDropoutPairs, WithEpoch
from latimer.data.encoded import Batch, EncodedPairs


class TrainingLoader(DataLoader[list[Batch]]):
    """Yields the micro-batches of one optimizer update after another, and knows its position.

    The position is that of the updates handed out, not of those that workers have prepared. It can
    be saved and loaded, and iterating then goes on in the middle of an epoch.

    Args:
        pairs: the training split, perhaps with BPE-dropout.
        batches: what to yield of it.
        workers: processes that prepare batches; 0 for none. The batches don't depend on it.
    """

    def __init__(
        self, pairs: EncodedPairs | BpeDropoutPairs, batches: TokenBatches, *, workers: int = 0
    ) -> None:
        self.batches = batches
        super().__init__(
            pairs,
            sampler=WithEpoch(batches) if isinstance(pairs, BpeDropoutPairs) else batches,
            batch_size=None,
            num_workers=workers,
            persistent_workers=workers > 0,
            generator=torch.Generator(),
            pin_memory=torch.cuda.is_available(),
        )

    def __iter__(self) -> Iterator[list[Batch]]:  # type: ignore[override]
        for update in super().__iter__():
            self.batches.mark_done()
            yield update

    def state_dict(self) -> dict[str, int]:
        """The position in the training data."""
        return self.batches.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to a position that :meth:`state_dict` gave."""
        self.batches.load_state_dict(state)


def validation_loader(
    pairs: EncodedPairs, *, max_tokens: int, rank: int = 0, world_size: int = 1
) -> DataLoader[list[Batch]]:
    """Yields lists of one batch each, which together hold every pair once.

    Args:
        pairs: the validation split.
        max_tokens: cells of a batch's longer side, as in :class:`TokenBatches`.
        rank: which process this is, from 0.
        world_size: how many processes validate together. Their batches are disjoint; one may get
            one more than another, and one that gets none yields one empty list.
    """
    share = ordered_batches(pairs, max_tokens)[rank::world_size]
    return DataLoader(
        pairs,
        # Lightning would leave out the validation of a process that has nothing to iterate over.
        sampler=[[rows] for rows in share] or [[]],
        batch_size=None,
        # A loader takes a random number when it begins; not from the training, whose dropout would
        # depend on how often it is validated.
        generator=torch.Generator(),
        pin_memory=torch.cuda.is_available(),
    )
