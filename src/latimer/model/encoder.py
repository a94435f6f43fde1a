"""The encoder: N layers of self-attention and feed-forward (section 3.1)."""

from torch import Tensor, nn

from latimer.model.attention import MultiHeadAttention
from latimer.model.feed_forward import make_feed_forward
from latimer.model.hyperparameters import LayerSizes
from latimer.model.positions import Positions
from latimer.model.residual import make_norm, make_residual


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each inside a residual connection."""

    def __init__(self, sizes: LayerSizes, positions: Positions) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(**sizes.attention, positions=positions)
        self.feed_forward = make_feed_forward(**sizes.feed_forward)
        self.around_self_attention = make_residual(**sizes.residual)
        self.around_feed_forward = make_residual(**sizes.residual)

    def forward(self, states: Tensor, may_attend: Tensor) -> Tensor:
        """(B, S, D) -> (B, S, D); ``may_attend`` is broadcastable to (B, H, S, S)."""
        states = self.around_self_attention(
            states, lambda inner: self.self_attention(inner, inner, may_attend)
        )
        output: Tensor = self.around_feed_forward(states, self.feed_forward)
        return output


class Encoder(nn.Module):
    """A stack of encoder layers; only a pre-norm stack ends with a norm of its own."""

    def __init__(self, sizes: LayerSizes, layers: int, positions: Positions) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(sizes, positions) for _ in range(layers))
        self.norm = make_norm(sizes.norm, sizes.d_model) if sizes.ends_with_norm else nn.Identity()

    def forward(self, states: Tensor, may_attend: Tensor) -> Tensor:
        """(B, S, D) -> the memory (B, S, D)."""
        for layer in self.layers:
            states = layer(states, may_attend)
        memory: Tensor = self.norm(states)
        return memory
