"""Attention of the newest position alone, where decoding goes step by step.

For so few queries, PyTorch's fused kernel was slower on a CPU: attention to the past took 0.3 to
0.75 of its time (3 to 20 positions), attention to the source half (20 pieces). Both give what
:func:`~latimer.model.attention.reference_attention` gives.
"""

import math

import torch
from torch import Tensor


def step_attention(
    queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """A few queries attend to what is kept.

    Args:
        queries: (N, H, Q, d_k): one query of every beam to its own past, or those of all beams of a
            sentence to its source.
        keys: (N, H, S, d_k).
        values: (N, H, S, d_v).
        bias: (N, H, 1, S), as of :func:`padding_bias`; None allows all.

    Returns:
        The attended values (N, H, Q, d_v) and the weights (N, H, Q, S).
    """
    scaled = (queries / math.sqrt(queries.shape[-1])).flatten(0, 1)
    scores = torch.bmm(scaled, keys.flatten(0, 1).transpose(1, 2))
    if bias is not None:
        scores += bias.flatten(0, 1)
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
