"""The position-wise feed-forward network (section 3.3), and two departures from its ReLU."""

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from latimer.model.dropout import Dropout


class FeedForward(nn.Module):
    """max(0, x·W₁ + b₁)·W₂ + b₂, the same at every position (section 3.3, equation 2).

    The paper drops nothing inside; ``dropout`` applies to what W₂ gets.
    """

    def __init__(self, *, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        outer: Tensor = self.outer(self.dropout(self.activated(states)))
        return outer

    def activated(self, states: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, d_ff)."""
        activated: Tensor = self.inner(states).relu()
        return activated


class GeluFeedForward(FeedForward):
    """gelu(x·W₁ + b₁)·W₂ + b₂."""

    def activated(self, states: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, d_ff)."""
        return F.gelu(self.inner(states))


class SwigluFeedForward(FeedForward):
    """(silu(x·G + c) ⊙ (x·W₁ + b₁))·W₂ + b₂: a gate decides how much passes (arXiv 2002.05202).

    ``d_ff`` is the width of both inner matrices, so that there are half as many weights again as
    with ReLU; two thirds of ``d_ff`` give as many.
    """

    def __init__(self, *, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__(d_model=d_model, d_ff=d_ff, dropout=dropout)
        self.gate = nn.Linear(d_model, d_ff)

    def activated(self, states: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, d_ff)."""
        gated: Tensor = F.silu(self.gate(states)) * self.inner(states)
        return gated


ACTIVATIONS = {"relu": FeedForward, "gelu": GeluFeedForward, "swiglu": SwigluFeedForward}


def make_feed_forward(activation: str, **sizes: Any) -> FeedForward:
    """The network with the activation "relu" (the paper's), "gelu" or "swiglu"."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation: {activation!r} is not one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[activation](**sizes)
