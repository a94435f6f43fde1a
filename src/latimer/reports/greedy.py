"""Greedy search beside the search that was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from latimer.decoding import SearchSettings
from latimer.reports.search_errors import is_lower
from latimer.scoring import PartScorer
from latimer.translation import Translation, Translator


@dataclass(frozen=True)
class GreedyComparison:
    """A search beside greedy search with the same penalties.

    Attributes:
        bleu: greedy search's BLEU, and the search's.
        interval: of the difference, the second minus the first: low and high end of 95%, by paired
            bootstrap; None where no resampling is wanted.
        lines: those with a translation.
        different: those whose translations differ.
        lower_scores: those where the search's own score is lower than greedy's: a search error.
        lower_log_probabilities: likewise for the log-probability; a length penalty may want it so.
    """

    bleu: tuple[float, float]
    interval: tuple[float, float] | None
    lines: int
    different: int
    lower_scores: int
    lower_log_probabilities: int


def compare_with_greedy(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    translations: Sequence[Translation],
    scorer: PartScorer,
) -> GreedyComparison | None:
    """Translates greedily, too; None where the search is greedy already, or is none."""
    settings = translator.settings
    if not isinstance(settings, SearchSettings) or settings.beam_size == 1:
        return None
    plain = replace(settings, beam_size=1, beam_groups=1, diversity_penalty=0.0, n_best=1)
    greedy = Translator(
        translator.model, translator.tokenizers, plain, max_tokens=translator.max_tokens
    ).translations(sources)
    pairs = [
        (first.hypotheses[0], other.hypotheses[0], first.text != other.text)
        for first, other in zip(translations, greedy, strict=True)
        if first.hypotheses and other.hypotheses
    ]
    apart = [(found, other) for found, other, different in pairs if different]
    before, after = ([each.text for each in system] for system in (greedy, translations))
    return GreedyComparison(
        bleu=(scorer.bleu(before, references), scorer.bleu(after, references)),
        interval=scorer.difference(before, after, references),
        lines=len(pairs),
        different=len(apart),
        lower_scores=sum(is_lower(found.score, other.score) for found, other in apart),
        lower_log_probabilities=sum(
            is_lower(found.log_probability, other.log_probability) for found, other in apart
        ),
    )
