"""How much of its source a hypothesis has read (Wu et al., 2016, arXiv 1609.08144, section 7).

The coverage of a source position is the attention that it got, summed over the steps that wrote
the hypothesis, that of eos included.
"""

from typing import Any

import torch
from torch import Tensor

from latimer.decoding.protocol import AttentiveModel, TranslationModel
from latimer.decoding.settings import SpecialIds
from latimer.errors import LatimerError


def start_coverage(
    model: TranslationModel[Any], source: Tensor, coverage_penalty: float, special_ids: SpecialIds
) -> Tensor:
    """The coverage (B, 1, S) before the first step; (B, 1, 0) without a coverage penalty.

    What is no piece of the text counts as covered.

    Raises:
        LatimerError: there is a penalty, but the model does not tell its attention.
    """
    if not coverage_penalty:
        return torch.zeros(len(source), 1, 0, device=source.device)
    if not isinstance(model, AttentiveModel):
        raise LatimerError(
            f"coverage_penalty={coverage_penalty:g}: this model does not tell what it "
            "attends to; write coverage_penalty=0"
        )
    uncounted = (source == special_ids.pad) | (source == special_ids.eos)
    return uncounted.float().unsqueeze(1)


def step_and_cover(
    model: TranslationModel[Any], last_ids: Tensor, cache: Any, coverage: Tensor
) -> tuple[Tensor, Tensor]:
    """One step of the model: the logits (B, K, V), and the coverage (B, K, S) after it."""
    if not coverage.shape[2]:
        return model.step(last_ids, cache), coverage
    assert isinstance(model, AttentiveModel)
    logits, attention = model.step_with_attention(last_ids, cache)
    return logits, coverage + attention.float()


def uncovered(coverage: Tensor) -> Tensor:
    """The logarithm of min(coverage, 1), summed over the source: (B, K, S) to (B, K).

    0 where all is covered, less elsewhere; finite also where a weight is too small for a float.
    """
    smallest = torch.finfo(coverage.dtype).tiny
    return coverage.clamp(min=smallest, max=1.0).log().sum(dim=-1)
