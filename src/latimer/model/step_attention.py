"""Attention of the newest position alone, where decoding goes step by step.

For so few queries, PyTorch's fused kernel was slower on a CPU: attention to the past took 0.3 to
0.75 of its time (3 to 20 positions), attention to the source half (20 pieces). Both give what
:func:`~latimer.model.attention.reference_attention` gives.
"""

import math

import torch
from torch import Tensor


def attend_to_past(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Every row attends to its own past, itself included.

    Products number by number, since matrices of one row are no work for a matrix product.

    Args:
        query: (N, H, d_k), one a row.
        keys: (t, N, H, d_k), position by position.
        values: (t, N, H, d_v).

    Returns:
        (N, H, d_v).
    """
    scores = (keys * (query / math.sqrt(query.shape[-1]))).sum(dim=-1, keepdim=True)
    return (scores.softmax(dim=0) * values).sum(dim=0)


def attend_to_source(
    queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor]:
    """The beams of a sentence attend to its one source.

    Args:
        queries: (B, H, K, d_k), one a beam.
        keys: (B, H, S, d_k).
        values: (B, H, S, d_v).
        bias: (B, H, 1, S), as of :func:`padding_bias`.

    Returns:
        The attended values (B, H, K, d_v) and the weights (B, H, K, S).
    """
    scores = torch.baddbmm(
        bias.flatten(0, 1),
        queries.flatten(0, 1),
        keys.flatten(0, 1).transpose(1, 2),
        alpha=1 / math.sqrt(queries.shape[-1]),
    )
    weights = scores.softmax(dim=-1)
    attended = torch.bmm(weights, values.flatten(0, 1))
    return attended.view(*queries.shape[:3], -1), weights.view(*queries.shape[:3], -1)


def padding_bias(may_attend: Tensor, like: Tensor) -> Tensor:
    """What is added to scores so that a forbidden key weighs zero, beside one that is allowed.

    Args:
        may_attend: (B, 1, 1, S), True where a key may be attended to.
        like: (B, H, S, d), the keys.

    Returns:
        (B, H, 1, S): 0 or the lowest finite number.
    """
    lowest = torch.finfo(like.dtype).min
    bias = torch.zeros_like(may_attend, dtype=like.dtype).masked_fill(~may_attend, lowest)
    return bias.expand(-1, like.shape[1], -1, -1).contiguous()
