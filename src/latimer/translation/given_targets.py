"""What a model thinks of translations that are given (forced decoding), in batches."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from latimer.decoding import Hypothesis, SearchSettings, TranslationModel, force_decode
from latimer.translation.batches import batches_by_length, padded
from latimer.translation.ensembles import TranslatingModel, device_of, evaluating
from latimer.translation.methods import DecodingSettings


def score_targets(
    model: TranslatingModel,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int] | None],
    settings: DecodingSettings,
    *,
    max_tokens: int,
) -> list[Hypothesis | None]:
    """Each target with its log-probability and its score, whatever is scored together.

    Args:
        model: what translates.
        sources: the pieces of each source, without eos; one without pieces gets None.
        targets: the pieces of each target, without eos; None for one that is not to be scored.
        settings: whose penalties make the score; sampling has none, so that it is the
            log-probability.
        max_tokens: the budget of a batch, in padded pieces of the longer side times the beams or
            samples of the settings, so that batches are of the size that a search has.
    """
    lengths = [
        0 if not source or target is None else max(len(source), len(target))
        for source, target in zip(sources, targets, strict=True)
    ]
    result: list[Hypothesis | None] = [None] * len(lengths)
    for rows in batches_by_length(lengths, beams=settings.width, max_tokens=max_tokens):
        source = padded([sources[row] for row in rows], device_of(model))
        wanted = [targets[row] or () for row in rows]
        with evaluating(model):
            found = _force(model, source, wanted, settings)
        for row, hypothesis in zip(rows, found, strict=True):
            result[row] = hypothesis
    return result


def _force(
    model: TranslationModel[Any],
    source: Tensor,
    targets: Sequence[Sequence[int]],
    settings: DecodingSettings,
) -> list[Hypothesis]:
    if not isinstance(settings, SearchSettings):
        return force_decode(model, source, targets, 0.0)
    alpha, beta = settings.length_penalty, settings.coverage_penalty
    return force_decode(model, source, targets, alpha, coverage_penalty=beta)
