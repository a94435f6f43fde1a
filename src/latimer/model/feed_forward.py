"""The position-wise feed-forward network (section 3.3)."""

from torch import Tensor, nn


class FeedForward(nn.Module):
    """max(0, x·W₁ + b₁)·W₂ + b₂, the same at every position (section 3.3, equation 2)."""

    def __init__(self, *, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        outer: Tensor = self.outer(self.inner(states).relu_())
        return outer
