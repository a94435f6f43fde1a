"""What a model thinks of targets that are given (forced decoding)."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from latimer.decoding.hypotheses import Hypothesis
from latimer.decoding.lengths import penalty
from latimer.decoding.protocol import CacheT, TranslationModel
from latimer.decoding.settings import SpecialIds


def force_decode(
    model: TranslationModel[CacheT],
    source: Tensor,
    targets: Sequence[Sequence[int]],
    length_penalty: float,
    special_ids: SpecialIds | None = None,
) -> list[Hypothesis]:
    """The log-probability and score of one given target for each sentence.

    It takes the steps that a search takes, so a hypothesis of :func:`beam_search` gets the scores
    that it was found with.

    Args:
        model: in evaluation mode.
        source: (B, S) long, each sentence's pieces and eos, padded on the right.
        targets: the pieces of each target, without bos and eos.
        length_penalty: α of the score.
        special_ids: None for those of the tokenizer.

    Raises:
        ValueError: not one target for each sentence.
    """
    if len(source) != len(targets):
        raise ValueError(f"{len(source)} sources, but {len(targets)} targets")
    if not targets:
        return []
    totals = _log_probabilities(model, source, targets, special_ids or SpecialIds())
    return [
        Hypothesis(tuple(target), total, total / penalty(len(target) + 1, length_penalty), True)
        for target, total in zip(targets, totals, strict=True)
    ]


def _log_probabilities(
    model: TranslationModel[CacheT],
    source: Tensor,
    targets: Sequence[Sequence[int]],
    special_ids: SpecialIds,
) -> list[float]:
    """The sum over each target's pieces and eos."""
    rows = [torch.tensor([*target, special_ids.eos], device=source.device) for target in targets]
    labels = pad_sequence(rows, batch_first=True, padding_value=special_ids.pad)
    lengths = torch.tensor([len(row) for row in rows], device=source.device)
    totals = torch.zeros(len(rows), device=source.device)
    last_ids = torch.full_like(labels[:, :1], special_ids.bos)
    with torch.inference_mode():
        cache = model.start(source)
        for position, label in enumerate(labels.unsqueeze(2).unbind(1)):
            log_probabilities = model.step(last_ids, cache).float().log_softmax(dim=-1)[:, 0]
            gained = log_probabilities.gather(1, label).squeeze(1)
            totals = totals + gained.where(position < lengths, 0.0)
            last_ids = label
    result: list[float] = totals.tolist()
    return result
