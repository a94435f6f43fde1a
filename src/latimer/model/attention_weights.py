"""Attention to look at: the weights of every layer and head."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from torch import Tensor, nn

from latimer.model.attention import ScaledDotProductAttention, attention_weights


class AttentionWeights(NamedTuple):
    """Who attended to whom: along the last axis, a row sums to one, or to zero without any key.

    Attributes:
        encoder: (layers, B, H, S, S), source to source.
        decoder: (layers, B, H, T, T), target to the target up to itself.
        cross: (layers, B, H, T, S), target to source.
    """

    encoder: Tensor
    decoder: Tensor
    cross: Tensor


@contextmanager
def recorded_weights(stack: nn.Module) -> Iterator[list[Tensor]]:
    """Collects the weights (B, H, T, S) of each attention inside, as it is computed.

    They are computed once more, by the reference path and before dropout: fused kernels give none
    away, and no layer needs to know that it is watched.
    """
    recorded: list[Tensor] = []

    def record(_attention: Any, inputs: tuple[Tensor, ...], _output: Any) -> None:
        query, key, _, may_attend = inputs
        recorded.append(attention_weights(query, key, may_attend))

    attentions = [each for each in stack.modules() if isinstance(each, ScaledDotProductAttention)]
    hooks = [attention.register_forward_hook(record) for attention in attentions]
    try:
        yield recorded
    finally:
        for hook in hooks:
            hook.remove()
