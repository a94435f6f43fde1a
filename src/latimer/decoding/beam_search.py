"""Beam search over a batch of sentences (section 6.1)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from latimer.decoding.beams import Beams, Ended
from latimer.decoding.coverage import start_coverage, step_and_cover
from latimer.decoding.hypotheses import NO_PROBABILITIES, Hypothesis
from latimer.decoding.lengths import length_limits
from latimer.decoding.prefixes import Prefixes
from latimer.decoding.protocol import CacheT, TranslationModel
from latimer.decoding.settings import SearchSettings, SpecialIds
from latimer.decoding.step import end, follow, is_settled, score, select
from latimer.errors import LatimerError


def beam_search(
    model: TranslationModel[CacheT],
    source: Tensor,
    settings: SearchSettings,
    special_ids: SpecialIds | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[list[Hypothesis]]:
    """The ``n_best`` best hypotheses found for each sentence, best first, no two of them alike.

    A sentence is left only when none of its beams can beat the hypotheses that would be returned.
    What is found for it depends on nothing else in the batch. Fewer than ``n_best`` come back only
    where fewer exist, or where groups of beams found the same ones.

    Args:
        model: in evaluation mode; with a coverage penalty an
            :class:`~latimer.decoding.protocol.AttentiveModel`.
        source: (B, S) long, each sentence's pieces and eos, padded on the right.
        settings: how to search.
        special_ids: None for those of the tokenizer.
        prefixes: pieces with which each sentence's hypotheses begin, without bos; None for none.
            One that is longer than the limit ends at once.

    Raises:
        LatimerError: the model's probabilities are not numbers.
        ValueError: not one prefix for each sentence, or one with a special id.
    """
    if not len(source):
        return []
    special_ids = special_ids or SpecialIds()
    given = Prefixes.of(prefixes, source, special_ids)
    coverage = start_coverage(model, source, settings.coverage_penalty, special_ids)
    search = _Search(source, given, coverage, settings, special_ids)
    with torch.inference_mode():
        cache = model.start(source)
        if settings.beam_groups > 1:
            cache.reorder_beams(torch.zeros_like(search.live.last_ids))
        while True:
            logits, coverage = step_and_cover(
                model, search.live.last_ids, cache, search.live.coverage
            )
            parents = search.advance(logits, coverage)
            going = search.release_settled()
            if not len(going):
                return search.found
            if len(going) < len(parents):
                cache.keep_sentences(going)
            cache.reorder_beams(parents[going])


class _Search:
    """A batch in the making: the sentences that go on, and what was found for those that left."""

    def __init__(
        self,
        source: Tensor,
        prefixes: Prefixes,
        coverage: Tensor,
        settings: SearchSettings,
        special_ids: SpecialIds,
    ) -> None:
        self.settings = settings
        self.special_ids = special_ids
        self.found: list[list[Hypothesis]] = [[] for _ in source]
        self.rows = torch.arange(len(source), device=source.device)
        self.prefixes = prefixes
        self.limits = length_limits(source, settings, special_ids).maximum(prefixes.lengths)
        self.live = Beams.start(coverage, settings.beam_groups, special_ids.bos)
        self.kept = Ended.none(len(source), settings.n_best, source.device)

    def advance(self, logits: Tensor, coverage: Tensor) -> Tensor:
        """One step of the live beams; returns the parents (B, K').

        Args:
            logits: (B, K, V), of what may come next.
            coverage: (B, K, S), with the attention of this step.
        """
        live, at_limit = self.live._replace(coverage=coverage), self.limits == self.live.length
        choices = score(logits.float().log_softmax(dim=-1), live, self.settings, self.special_ids)
        choices = follow(self.prefixes, choices, logits, live)
        longer, parents = select(live, choices, at_limit, self.settings)
        ended = end(live, choices, longer, at_limit, self.settings)
        self.kept = self.kept.keep_best(ended)
        self.live = longer
        return parents

    def release_settled(self) -> Tensor:
        """Collects the sentences that nothing can change any more; returns the others, (B',)."""
        settled = is_settled(self.live, self.kept, self.limits, self.settings)
        going = (~settled).nonzero().squeeze(1)
        if len(going) < len(settled):
            self._collect(settled)
            self.rows, self.limits = self.rows[going], self.limits[going]
            self.prefixes = self.prefixes.keep_sentences(going)
            self.live = self.live.keep_sentences(going)
            self.kept = self.kept.keep_sentences(going)
        return going

    def _collect(self, settled: Tensor) -> None:
        hypotheses = self.kept.keep_sentences(settled).hypotheses()
        for row, best in zip(self.rows[settled].tolist(), hypotheses, strict=True):
            if not best:
                raise LatimerError(NO_PROBABILITIES)
            self.found[row] = best
