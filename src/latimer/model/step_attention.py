"""Attention of the newest position alone, where decoding goes step by step.

For so few queries, PyTorch's fused kernel was slower on a CPU: attention to the past took 0.3 to
0.75 of its time (3 to 20 positions), attention to the source half (20 pieces). Both give what
:func:`~latimer.model.attention.reference_attention` gives.
"""

import math

import torch
from torch import Tensor

from latimer.model.softmax import softmax

FOR_PRODUCTS = 400
"""From so many numbers on, PyTorch hands a CPU's batched product to its library of kernels.

With fewer it goes number by number itself, and takes three times as long as we do. Beyond, products
took 0.8 (10 positions), 0.4 (20) and 0.36 (40) of our time, with d_k = 64 and 1,024 rows and heads.
"""


def attend_to_past(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Every row attends to its own past, itself included.

    Args:
        query: (N, H, d_k), one a row.
        keys: (t, N, H, d_k), position by position.
        values: (t, N, H, d_v).

    Returns:
        (N, H, d_v).
    """
    scaled = query / math.sqrt(query.shape[-1])
    numbers = len(keys) * min(query.shape[-1], values.shape[-1])
    attend = _by_numbers if numbers < FOR_PRODUCTS else _by_products
    return attend(scaled, keys, values)


def _by_numbers(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Number by number: matrices of one row and few numbers are no work for a matrix product."""
    scores = (keys * query).sum(dim=-1, keepdim=True)
    return (scores.softmax(dim=0) * values).sum(dim=0)


def _by_products(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """By a product for each row and head; nothing is copied to put the positions side by side."""
    of_heads, keys_of_heads, values_of_heads = (
        each.flatten(-3, -2) for each in (query, keys, values)
    )
    scores = torch.bmm(of_heads.unsqueeze(1), keys_of_heads.permute(1, 2, 0))
    attended = torch.bmm(softmax(scores), values_of_heads.transpose(0, 1))
    return attended.view(*query.shape[:2], -1)


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
    weights = softmax(scores)
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
