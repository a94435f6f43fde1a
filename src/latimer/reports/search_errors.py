"""Search errors: references that the model likes better than what its search has found."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import torch

from latimer.decoding import Hypothesis, SearchSettings, SpecialIds
from latimer.decoding.lengths import length_limits
from latimer.tokenizer import UNK_ID
from latimer.translation import Translation, Translator
from latimer.translation.batches import padded

TOLERANCE = 1e-4
"""Of the larger score's size, or of 1 where it is smaller: rounding is no search error."""
BLANK = "blank source"
TOO_SHORT = "reference shorter than the search allows"
TOO_LONG = "reference longer than the search allows"
UNKNOWN = "reference with characters that the tokenizer does not know"
REPEATED = "reference that repeats what the search must not repeat"


@dataclass(frozen=True)
class SearchError:
    """A reference with a higher score than the translation that was found.

    Attributes:
        row: of the test set, from 0.
        found: the translation's score.
        reference: the reference's.
    """

    row: int
    found: float
    reference: float


@dataclass(frozen=True)
class SearchErrors:
    """How often the model prefers the reference to what the search has found.

    Attributes:
        lines: those that were counted: the search could have found their references.
        left_out: how many others there are, by the reason.
        errors: the largest first.
        median_difference: of translation's score minus reference's, over the lines counted; None
            where there are none.
    """

    lines: int
    left_out: dict[str, int]
    errors: tuple[SearchError, ...]
    median_difference: float | None


def find_search_errors(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    translations: Sequence[Translation],
) -> SearchErrors | None:
    """Compares the scores of the references, by forced decoding, with those of the translations.

    Where the same text is found in other pieces, nothing was missed. None for a way of decoding
    that does not look for the highest score.
    """
    if not isinstance(translator.settings, SearchSettings):
        return None
    scores = translator.scores(sources, references)
    reasons = list(_reasons(translator, translator.settings, sources, scores))
    decode = translator.tokenizers.target.decode
    differences, errors = [], []
    for row, (translation, score) in enumerate(zip(translations, scores, strict=True)):
        if reasons[row] is not None or score is None:
            continue
        found = translation.hypotheses[0].score
        differences.append(found - score.score)
        if is_lower(found, score.score) and decode(score.ids) != translation.text:
            errors.append(SearchError(row, found, score.score))
    return SearchErrors(
        lines=len(differences),
        left_out=dict(Counter(reason for reason in reasons if reason is not None)),
        errors=tuple(sorted(errors, key=lambda error: error.found - error.reference)),
        median_difference=median(differences) if differences else None,
    )


def is_lower(value: float, other: float) -> bool:
    """Whether a score is lower than another by more than rounding."""
    return other - value > TOLERANCE * max(1.0, abs(value), abs(other))


def _reasons(
    translator: Translator,
    settings: SearchSettings,
    sources: Sequence[str],
    scores: Sequence[Hypothesis | None],
) -> Iterator[str | None]:
    """Why the search could not have found each reference; None where it could."""
    limits = _limits(translator, settings, sources)
    for source, score, limit in zip(sources, scores, limits, strict=True):
        if not source.strip() or not limit:
            yield BLANK
        elif score is None or len(score.ids) > limit:
            yield TOO_LONG
        elif len(score.ids) < settings.min_length:
            yield TOO_SHORT
        elif UNK_ID in score.ids:
            yield UNKNOWN
        else:
            yield REPEATED if _repeats(score.ids, settings.no_repeat_ngram) else None


def _limits(translator: Translator, settings: SearchSettings, sources: Sequence[str]) -> list[int]:
    """The most pieces of each translation; 0 for a source without pieces."""
    encoded = translator.tokenizers.source.encode_batch([line.rstrip("\r\n") for line in sources])
    cut = [ids[: translator.max_source_length] for ids in encoded]
    limits = length_limits(padded(cut, torch.device("cpu")), settings, SpecialIds()).tolist()
    return [limit if ids else 0 for limit, ids in zip(limits, cut, strict=True)]


def _repeats(ids: Sequence[int], n: int) -> bool:
    runs = [tuple(ids[first : first + n]) for first in range(len(ids) - n + 1)] if n else []
    return len(set(runs)) < len(runs)
