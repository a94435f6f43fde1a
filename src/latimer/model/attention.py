"""Scaled dot-product attention and its heads (sections 3.2.1 and 3.2.2)."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from latimer.model.dropout import Dropout
from latimer.model.positions import Positions
from latimer.model.precision import for_products
from latimer.model.softmax import softmax


def reference_attention(
    query: Tensor, key: Tensor, value: Tensor, may_attend: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attention spelled out: softmax(query · keyᵀ / √d_k) · value (section 3.2.1, equation 1).

    Every fast path is tested against this one. A forbidden position weighs exactly zero; a query
    that may attend to nothing gets zeros, and finite gradients.

    Args:
        query: (…, T, d_k).
        key: (…, S, d_k).
        value: (…, S, d_v).
        may_attend: (…, T, S), True where the query may attend to the key; None allows all.

    Returns:
        The attended values (…, T, d_v) and the weights (…, T, S).
    """
    weights = attention_weights(query, key, may_attend)
    return weights @ value, weights


def attention_weights(query: Tensor, key: Tensor, may_attend: Tensor | None) -> Tensor:
    """The weights alone, (…, T, S); arguments as in :func:`reference_attention`.

    The softmax is in float32 at least: in bfloat16, it and its gradient took four times as long.
    """
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if may_attend is None:
        return softmax(scores).to(query.dtype)
    # The lowest finite number and not -inf: a row of -inf alone would become NaN.
    scores.masked_fill_(~may_attend, torch.finfo(scores.dtype).min)
    weights = softmax(scores).to(query.dtype)
    keyless = _keyless(may_attend)
    return weights if keyless is None else weights.masked_fill(keyless, 0.0)


def fused_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    may_attend: Tensor | None,
    *,
    dropout: float = 0.0,
) -> Tensor:
    """What :func:`reference_attention` returns first, by a kernel of PyTorch's.

    Its dropout is one of the weights, after the softmax.
    """
    if may_attend is None:
        return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout)
    # Which fused kernel answers NaN for a query without a key, or has NaN gradients there, differs
    # by device and release: it gets every key instead, and its answer is thrown away.
    keyless = _keyless(may_attend)
    allowed = may_attend if keyless is None else may_attend | keyless
    attended = F.scaled_dot_product_attention(
        query, key, value, attn_mask=allowed, dropout_p=dropout
    )
    return attended if keyless is None else attended.masked_fill(keyless, 0.0)


def _keyless(may_attend: Tensor) -> Tensor | None:
    """The queries that may attend to nothing, (…, T, 1); None if it is known that all have a key.

    Known on a CPU alone: the answer of another device would have to be waited for.
    """
    keyless = ~may_attend.any(dim=-1, keepdim=True)
    return None if keyless.device.type == "cpu" and not keyless.any() else keyless


class ScaledDotProductAttention(nn.Module):
    """The values that :func:`reference_attention` returns, by the way that is fastest here.

    A module though it has no weights: so a hook can see what is compared (see
    :func:`~latimer.model.attention_weights.recorded_weights`).

    Args:
        dropout: probability, on the weights; the paper drops none.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, may_attend: Tensor | None
    ) -> Tensor:
        """The attended values, (B, H, T, d_v).

        Args:
            query: (B, H, T, d_k).
            key: (B, H, S, d_k).
            value: (B, H, S, d_v).
            may_attend: broadcastable to (B, H, T, S); None allows all.
        """
        dropout = self.dropout.probability if self.training else 0.0
        # On a CPU in bfloat16, PyTorch's fused kernel took five times as long as two batched
        # products; and it has none there that drops weights.
        if query.device.type == "cpu" and (dropout or query.dtype == torch.bfloat16):
            weights: Tensor = self.dropout(attention_weights(query, key, may_attend))
            return weights @ value
        return fused_attention(query, key, value, may_attend, dropout=dropout)


class MultiHeadAttention(nn.Module):
    """H attentions side by side on projections of their own (section 3.2.2).

    The three projections and the output have no bias, as in the paper's equations. Keys and values
    are projected apart from the queries, so that decoding can keep them.

    Args:
        d_model: D.
        heads: H.
        d_k: width of a query and a key in one head.
        d_v: width of a value in one head.
        dropout: probability, on the weights.
        positions: what may rotate queries and keys; None for attention to another sequence.
    """

    def __init__(  # noqa: PLR0913
        self,
        *,
        d_model: int,
        heads: int,
        d_k: int,
        d_v: int,
        dropout: float = 0.0,
        positions: Positions | None = None,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(d_model, heads * d_k, bias=False)
        self.key = nn.Linear(d_model, heads * d_k, bias=False)
        self.value = nn.Linear(d_model, heads * d_v, bias=False)
        self.output = nn.Linear(heads * d_v, d_model, bias=False)
        self.attention = ScaledDotProductAttention(dropout)
        # Only the method: a submodule's parameters would be those of every layer as well.
        self.rotate = (positions or Positions()).rotate

    def forward(self, states: Tensor, memory: Tensor, may_attend: Tensor | None) -> Tensor:
        """Each state attends to the memory.

        Args:
            states: (B, T, D), the queries' side.
            memory: (B, S, D), the keys' and values' side; ``states`` itself in self-attention.
            may_attend: broadcastable to (B, H, T, S); None allows all.

        Returns:
            (B, T, D).
        """
        to_itself = memory is states
        states = for_products(states)
        memory = states if to_itself else for_products(memory)
        attended = self.attention(self.queries(states), *self.keys_and_values(memory), may_attend)
        joined: Tensor = self.output(attended.transpose(1, 2).flatten(2))
        return joined

    def queries(self, states: Tensor, first: int = 0) -> Tensor:
        """Projects states (B, T, D), the first at position ``first``, to queries (B, H, T, d_k)."""
        return self.rotate(self._split(self.query(states)), first)

    def keys_and_values(self, memory: Tensor, first: int = 0) -> tuple[Tensor, Tensor]:
        """Projects a memory (B, S, D) likewise to keys (B, H, S, d_k) and values (B, H, S, d_v)."""
        return self.rotate(self._split(self.key(memory)), first), self._split(self.value(memory))

    def _split(self, projected: Tensor) -> Tensor:
        """(B, T, H · d) -> (B, H, T, d)."""
        return projected.view(*projected.shape[:-1], self.heads, -1).transpose(1, 2)
