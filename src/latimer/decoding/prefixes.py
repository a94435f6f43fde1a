"""Targets whose beginning is given."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from latimer.decoding.settings import SpecialIds


class Prefixes(NamedTuple):
    """The pieces with which the hypotheses of each sentence begin.

    Attributes:
        ids: (B, P) long; what lies beyond a prefix's length means nothing.
        lengths: (B,) long; 0 for a sentence that is free from the start.
    """

    ids: Tensor
    lengths: Tensor

    @classmethod
    def of(
        cls, given: Sequence[Sequence[int]] | None, source: Tensor, special_ids: SpecialIds
    ) -> "Prefixes":
        """The prefixes given for the sources (B, S); None for none.

        Raises:
            ValueError: not one for each sentence, or one that holds a special id.
        """
        given = [()] * len(source) if given is None else given
        if len(given) != len(source):
            raise ValueError(f"{len(source)} sources, but {len(given)} prefixes")
        for row, prefix in enumerate(given):
            if special := {*special_ids.forbidden, special_ids.eos}.intersection(prefix):
                raise ValueError(f"prefix {row} holds the special ids {sorted(special)}")
        rows = [torch.tensor(prefix, dtype=torch.long) for prefix in given]
        lengths = torch.tensor([len(row) for row in rows])
        padded = pad_sequence(rows, batch_first=True, padding_value=special_ids.pad)
        return cls(padded.to(source.device), lengths.to(source.device))

    def next(self, position: int) -> tuple[Tensor, Tensor]:
        """The sentences (R,) whose prefix has a piece at this position, and these pieces (R,)."""
        if position >= self.ids.shape[1]:
            return self.lengths[:0], self.lengths[:0]
        sentences = (self.lengths > position).nonzero().squeeze(1)
        return sentences, self.ids[sentences, position]

    def keep_sentences(self, sentences: Tensor) -> "Prefixes":
        """The prefixes of these sentences (B',) alone."""
        return Prefixes(*(field[sentences] for field in self))
