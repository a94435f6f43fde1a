"""Ancestral sampling: texts drawn piece by piece with the model's probabilities."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from latimer.decoding.draws import draw, streams, to_draw_from, uniform
from latimer.decoding.hypotheses import NO_PROBABILITIES, Hypothesis
from latimer.decoding.lengths import length_limits
from latimer.decoding.prefixes import Prefixes
from latimer.decoding.protocol import CacheT, TranslationModel
from latimer.decoding.settings import SamplingSettings, SpecialIds
from latimer.decoding.step import IMPOSSIBLE
from latimer.errors import LatimerError


def sample(
    model: TranslationModel[CacheT],
    source: Tensor,
    settings: SamplingSettings,
    special_ids: SpecialIds | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[list[Hypothesis]]:
    """The samples of each sentence in the order of their numbers; the same text may come twice.

    What is drawn for a sentence depends on its pieces and the seed, and on nothing else in the
    batch: the same sentence gives the same samples wherever it stands, and its first ones are the
    same however many are drawn. The log-probability of a sample is the model's own, which is its
    score as well; temperature, top-k and top-p decide what is drawn, and are not in it.

    Args:
        model: in evaluation mode.
        source: (B, S) long, each sentence's pieces and eos, padded on the right.
        settings: how to draw.
        special_ids: None for those of the tokenizer.
        prefixes: pieces with which each sentence's samples begin, without bos; None for none.

    Raises:
        LatimerError: the model's probabilities are not numbers.
        ValueError: not one prefix for each sentence, or one with a special id.
    """
    if not len(source):
        return []
    special_ids = special_ids or SpecialIds()
    given = Prefixes.of(prefixes, source, special_ids)
    sampling = _Sampling(source, given, settings, special_ids)
    with torch.inference_mode():
        cache = model.start(source)
        cache.reorder_beams(torch.zeros_like(sampling.live.numbers))
        while True:
            sampling.advance(model.step(sampling.live.ids[:, :, -1], cache))
            before = len(sampling.rows)
            sentences, order = sampling.release_ended()
            if not len(sentences):
                return sampling.samples
            if len(sentences) < before:
                cache.keep_sentences(sentences)
            cache.reorder_beams(order)


class _Live(NamedTuple):
    """The samples of a batch that are followed, K a sentence.

    Attributes:
        ids: (B, K, 1 + t) long, bos and the pieces.
        log_probabilities: (B, K) float32.
        numbers: (B, K) long, which of its sentence's samples each one is.
        goes_on: (B, K) bool; one that has ended stays while another sentence has more that go on.
    """

    ids: Tensor
    log_probabilities: Tensor
    numbers: Tensor
    goes_on: Tensor


class _Sampling:
    """A batch in the making: the samples that go on, and those that have ended."""

    def __init__(
        self,
        source: Tensor,
        prefixes: Prefixes,
        settings: SamplingSettings,
        special_ids: SpecialIds,
    ) -> None:
        self.settings = settings
        self.special_ids = special_ids
        self.prefixes = prefixes
        self.limits = length_limits(source, settings, special_ids).maximum(prefixes.lengths)
        self.rows = torch.arange(len(source), device=source.device)
        texts = ([i for i in row if i != special_ids.pad] for row in source.tolist())
        self.streams = streams(texts, settings.samples, settings.seed)
        self._found: list[dict[int, Hypothesis]] = [{} for _ in source]
        numbers = torch.arange(settings.samples, device=source.device).expand(len(source), -1)
        self.live = _Live(
            ids=torch.full_like(numbers, special_ids.bos).unsqueeze(2),
            log_probabilities=torch.zeros_like(numbers, dtype=torch.float32),
            numbers=numbers,
            goes_on=torch.ones_like(numbers, dtype=torch.bool),
        )

    @property
    def length(self) -> int:
        """The number t of pieces so far, the same in all samples that go on."""
        return self.live.ids.shape[2] - 1

    @property
    def samples(self) -> list[list[Hypothesis]]:
        """Those of each sentence, once all have ended."""
        return [[found[number] for number in sorted(found)] for found in self._found]

    def advance(self, logits: Tensor) -> None:
        """One step with the logits (B, K, V): every sample gets a piece, or ends."""
        live, eos = self.live, self.special_ids.eos
        log_probabilities = logits.float().log_softmax(dim=-1)
        wanted = self._draw(log_probabilities)
        pieces = wanted.masked_fill((self.limits == self.length).unsqueeze(1), eos)
        gained = log_probabilities.gather(2, pieces.unsqueeze(2)).squeeze(2)
        totals = live.log_probabilities + gained.clamp(min=IMPOSSIBLE)
        ends = live.goes_on & (pieces == eos)
        self._collect(ends, totals, finished=wanted == eos)
        self.live = live._replace(
            ids=torch.cat([live.ids, pieces.unsqueeze(2)], dim=2),
            log_probabilities=totals,
            goes_on=live.goes_on & ~ends,
        )

    def release_ended(self) -> tuple[Tensor, Tensor]:
        """Leaves what has ended; the sentences that go on (B',), and their samples (B', K')."""
        going = self.live.goes_on.sum(dim=1)
        sentences = going.nonzero().squeeze(1)
        order = (~self.live.goes_on[sentences]).int().sort(dim=1, stable=True).indices
        order = order[:, : int(going.max())]
        self.rows, self.limits = self.rows[sentences], self.limits[sentences]
        self.prefixes = self.prefixes.keep_sentences(sentences)
        self.live = _Live(*(field[sentences.unsqueeze(1), order] for field in self.live))
        return sentences, order

    def _draw(self, log_probabilities: Tensor) -> Tensor:
        """The next piece (B, K) of every sample, or the eos that ends it."""
        rows, numbers = self.rows.cpu().numpy(), self.live.numbers.cpu().numpy()
        at_random = uniform(self.streams[rows[:, None], numbers], self.length)
        drawn = draw(to_draw_from(self._allowed(log_probabilities), self.settings), at_random)
        sentences, pieces = self.prefixes.next(self.length)
        drawn[sentences] = pieces.unsqueeze(1)
        return drawn

    def _allowed(self, log_probabilities: Tensor) -> Tensor:
        """The log-probabilities (B, K, V) without those of what may not come next."""
        if log_probabilities.isnan().any():
            raise LatimerError(NO_PROBABILITIES)
        allowed, eos = log_probabilities.clone(), self.special_ids.eos
        allowed[..., [*self.special_ids.forbidden, eos]] = -math.inf
        has_pieces = allowed.amax(dim=-1) > -math.inf
        end = log_probabilities[..., eos]
        if self.length < self.settings.min_length:
            end = torch.full_like(end, -math.inf)
        # Where no piece may come next, the end must, however improbable.
        allowed[..., eos] = end.where(has_pieces, 0.0)
        return allowed

    def _collect(self, ends: Tensor, totals: Tensor, finished: Tensor) -> None:
        """Keeps the samples that end here, with their log-probabilities, eos included."""
        fields = (self.live.numbers, self.live.ids[:, :, 1:], totals, finished)
        sentences = self.rows.unsqueeze(1).expand_as(ends)[ends].tolist()
        for sentence, number, ids, total, own_end in zip(
            sentences, *(field[ends].tolist() for field in fields), strict=True
        ):
            self._found[sentence][number] = Hypothesis(tuple(ids), total, total, own_end)
