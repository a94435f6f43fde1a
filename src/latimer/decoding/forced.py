"""What a model thinks of targets that are given (forced decoding)."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from latimer.decoding.coverage import start_coverage, step_and_cover, uncovered
from latimer.decoding.hypotheses import Hypothesis
from latimer.decoding.lengths import penalty
from latimer.decoding.protocol import CacheT, TranslationModel
from latimer.decoding.settings import LengthPenalty, SpecialIds


def force_decode(  # noqa: PLR0913 - the penalties of the score by their names
    model: TranslationModel[CacheT],
    source: Tensor,
    targets: Sequence[Sequence[int]],
    length_penalty: LengthPenalty,
    special_ids: SpecialIds | None = None,
    *,
    coverage_penalty: float = 0.0,
) -> list[Hypothesis]:
    """The log-probability and score of one given target for each sentence.

    It takes the steps that a search takes, so a hypothesis of :func:`beam_search` gets the scores
    that it was found with.

    Args:
        model: in evaluation mode.
        source: (B, S) long, each sentence's pieces and eos, padded on the right.
        targets: the pieces of each target, without bos and eos.
        length_penalty: α of the score, or "average".
        special_ids: None for those of the tokenizer.
        coverage_penalty: β of the score.

    Raises:
        ValueError: not one target for each sentence.
    """
    if len(source) != len(targets):
        raise ValueError(f"{len(source)} sources, but {len(targets)} targets")
    if not targets:
        return []
    special_ids = special_ids or SpecialIds()
    coverage = start_coverage(model, source, coverage_penalty, special_ids)
    totals, gaps = _follow(model, source, targets, coverage, special_ids)
    return [
        Hypothesis(
            ids=tuple(target),
            log_probability=total,
            score=total / penalty(len(target) + 1, length_penalty) + coverage_penalty * gap,
            finished=True,
        )
        for target, total, gap in zip(targets, totals, gaps, strict=True)
    ]


def _follow(
    model: TranslationModel[CacheT],
    source: Tensor,
    targets: Sequence[Sequence[int]],
    coverage: Tensor,
    special_ids: SpecialIds,
) -> tuple[list[float], list[float]]:
    """The log-probability of each target's pieces and eos, and what they leave uncovered."""
    rows = [torch.tensor([*target, special_ids.eos], device=source.device) for target in targets]
    labels = pad_sequence(rows, batch_first=True, padding_value=special_ids.pad)
    lengths = torch.tensor([len(row) for row in rows], device=source.device)
    totals = torch.zeros(len(rows), device=source.device)
    last_ids = torch.full_like(labels[:, :1], special_ids.bos)
    with torch.inference_mode():
        cache = model.start(source)
        for position, label in enumerate(labels.unsqueeze(2).unbind(1)):
            logits, covered = step_and_cover(model, last_ids, cache, coverage)
            gained = logits.float().log_softmax(dim=-1)[:, 0].gather(1, label).squeeze(1)
            goes_on = position < lengths
            totals = totals + gained.where(goes_on, 0.0)
            coverage = covered.where(goes_on[:, None, None], coverage)
            last_ids = label
    return totals.tolist(), uncovered(coverage)[:, 0].tolist()
