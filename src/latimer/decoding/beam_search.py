"""Beam search over a batch of sentences (section 6.1)."""

import torch
from torch import Tensor

from latimer.decoding.beams import Beams, Ended
from latimer.decoding.hypotheses import Hypothesis
from latimer.decoding.lengths import length_limits
from latimer.decoding.protocol import CacheT, TranslationModel
from latimer.decoding.settings import SearchSettings, SpecialIds
from latimer.decoding.step import end, is_settled, score, select
from latimer.errors import LatimerError


def beam_search(
    model: TranslationModel[CacheT],
    source: Tensor,
    settings: SearchSettings,
    special_ids: SpecialIds | None = None,
) -> list[list[Hypothesis]]:
    """The ``n_best`` best hypotheses found for each sentence, best first.

    A sentence is left only when none of its beams can beat the hypotheses that would be returned.
    What is found for it depends on nothing else in the batch. Fewer than ``n_best`` come back only
    where fewer exist.

    Args:
        model: in evaluation mode.
        source: (B, S) long, each sentence's pieces and eos, padded on the right.
        settings: how to search.
        special_ids: None for those of the tokenizer.

    Raises:
        LatimerError: the model's probabilities are not numbers.
    """
    if not len(source):
        return []
    search = _Search(source, settings, special_ids or SpecialIds())
    with torch.inference_mode():
        cache = model.start(source)
        while True:
            parents = search.advance(model.step(search.live.last_ids, cache))
            going = search.release_settled()
            if not len(going):
                return search.found
            if len(going) < len(parents):
                cache.keep_sentences(going)
            cache.reorder_beams(parents[going])


class _Search:
    """A batch in the making: the sentences that go on, and what was found for those that left."""

    def __init__(self, source: Tensor, settings: SearchSettings, special_ids: SpecialIds) -> None:
        self.settings = settings
        self.special_ids = special_ids
        self.found: list[list[Hypothesis]] = [[] for _ in source]
        self.rows = torch.arange(len(source), device=source.device)
        self.limits = length_limits(source, settings, special_ids)
        self.live = Beams.start(len(source), special_ids.bos, source.device)
        self.kept = Ended.none(len(source), settings.n_best, source.device)

    def advance(self, logits: Tensor) -> Tensor:
        """One step with the logits (B, K, V) of the live beams; returns the parents (B, K')."""
        at_limit = self.limits == self.live.length
        choices = score(logits, self.settings.beam_size, self.special_ids)
        longer, parents = select(self.live, choices, at_limit, self.settings.beam_size)
        ended = end(self.live, choices, longer, at_limit, self.settings)
        self.kept = self.kept.keep_best(ended)
        self.live = longer
        return parents

    def release_settled(self) -> Tensor:
        """Collects the sentences that nothing can change any more; returns the others, (B',)."""
        settled = is_settled(self.live, self.kept, self.limits, self.settings)
        if settled.any():
            self._collect(settled)
        going = (~settled).nonzero().squeeze(1)
        self.rows, self.limits = self.rows[going], self.limits[going]
        self.live = self.live.keep_sentences(going)
        self.kept = self.kept.keep_sentences(going)
        return going

    def _collect(self, settled: Tensor) -> None:
        hypotheses = self.kept.keep_sentences(settled).hypotheses()
        for row, best in zip(self.rows[settled].tolist(), hypotheses, strict=True):
            if not best:
                raise LatimerError(
                    "no translation has a probability: the model's weights are damaged or not "
                    "numbers (NaN), as after a training that diverged"
                )
            self.found[row] = best
