"""The two things that a search holds for a batch: beams that go on, hypotheses that have ended."""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from latimer.decoding.hypotheses import Hypothesis


class Beams(NamedTuple):
    """Prefixes that go on, K a sentence, group after group, in a group the best first.

    Attributes:
        ids: (B, K, 1 + t) long, bos and the pieces.
        log_probabilities: (B, K) float32; -inf marks a beam that nothing can come of.
        coverage: (B, K, S) float32, the attention that each source position got so far; (B, K, 0)
            where nobody asks.
    """

    ids: Tensor
    log_probabilities: Tensor
    coverage: Tensor

    @classmethod
    def start(cls, coverage: Tensor, groups: int, bos_id: int) -> "Beams":
        """One beam a group, which holds bos alone, with the coverage (B, 1, S)."""
        coverage = coverage.expand(-1, groups, -1)
        total = coverage.new_zeros(coverage.shape[:2])
        return cls(torch.full_like(total, bos_id, dtype=torch.long).unsqueeze(2), total, coverage)

    @property
    def last_ids(self) -> Tensor:
        """(B, K), what the model reads next."""
        return self.ids[:, :, -1]

    @property
    def pieces(self) -> Tensor:
        """(B, K, t), the prefixes without bos."""
        return self.ids[:, :, 1:]

    @property
    def length(self) -> int:
        """The number t of pieces so far, the same in all beams."""
        return self.ids.shape[2] - 1

    def extend(self, parents: Tensor, ids: Tensor, log_probabilities: Tensor) -> "Beams":
        """Beam k continues the old beam ``parents[:, k]`` with ``ids[:, k]``; all are (B, K)."""
        longer = torch.cat([_gather(self.ids, parents), ids.unsqueeze(2)], dim=2)
        return Beams(longer, log_probabilities, _gather(self.coverage, parents))

    def keep_sentences(self, sentences: Tensor) -> "Beams":
        """The beams of these sentences (B',) alone."""
        return Beams(*(field[sentences] for field in self))


class Ended(NamedTuple):
    """Hypotheses that have ended, N a sentence; a score of -inf marks an empty place.

    Attributes:
        ids: (B, N, t) long; what lies beyond a hypothesis's length means nothing.
        lengths: (B, N) long, pieces.
        log_probabilities: (B, N) float32, eos included.
        scores: (B, N) float32.
        finished: (B, N) bool, as in :class:`Hypothesis`.
    """

    ids: Tensor
    lengths: Tensor
    log_probabilities: Tensor
    scores: Tensor
    finished: Tensor

    @classmethod
    def none(cls, sentences: int, places: int, device: torch.device) -> "Ended":
        """N empty places a sentence."""
        shape = (sentences, places)
        lengths = torch.zeros(shape, dtype=torch.long, device=device)
        nothing = torch.full(shape, -math.inf, device=device)
        return cls(lengths.new_zeros(*shape, 0), lengths, nothing, nothing, lengths.bool())

    @property
    def worst_scores(self) -> Tensor:
        """(B,), what a hypothesis has to beat to be kept; -inf where a place is empty."""
        return self.scores[:, -1]

    def keep_best(self, others: "Ended") -> "Ended":
        """The N best of these and the ``others``, best first; the earlier wins a tie."""
        padding = others.ids.shape[2] - self.ids.shape[2]
        mine = self._replace(ids=F.pad(self.ids, (0, padding)))
        both = Ended(*(torch.cat(fields, dim=1) for fields in zip(mine, others, strict=True)))
        order = both.scores.sort(dim=1, descending=True, stable=True).indices
        best = order[:, : self.scores.shape[1]]
        return Ended(*(_gather(field, best) for field in both))

    def keep_sentences(self, sentences: Tensor) -> "Ended":
        """The hypotheses of these sentences (B',) alone."""
        return Ended(*(field[sentences] for field in self))

    def hypotheses(self) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence, in order, without the empty places."""
        return [
            [
                Hypothesis(tuple(ids[:length]), log_probability, score, finished)
                for ids, length, log_probability, score, finished in zip(*places, strict=True)
                if score > -math.inf
            ]
            for places in zip(*(field.tolist() for field in self), strict=True)
        ]


def _gather(field: Tensor, order: Tensor) -> Tensor:
    """Entry ``order[b, n]`` of every sentence b: (B, N, …) and (B, N') to (B, N', …)."""
    sentences = torch.arange(len(order), device=order.device).unsqueeze(1)
    return field[sentences, order]
