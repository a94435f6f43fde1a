"""The decoder: N layers that attend to the target so far and to the source (section 3.1)."""

from collections.abc import Iterator
from typing import cast

from torch import Tensor, nn

from latimer.model.attention import MultiHeadAttention
from latimer.model.cache import DecoderCache, LayerCache
from latimer.model.feed_forward import make_feed_forward
from latimer.model.hyperparameters import LayerSizes
from latimer.model.positions import Positions
from latimer.model.residual import make_norm, make_residual


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, feed-forward, each inside a residual connection."""

    def __init__(self, sizes: LayerSizes, positions: Positions) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(**sizes.attention, positions=positions)
        self.cross_attention = MultiHeadAttention(**sizes.attention)
        self.feed_forward = make_feed_forward(**sizes.feed_forward)
        self.around_self_attention = make_residual(**sizes.residual)
        self.around_cross_attention = make_residual(**sizes.residual)
        self.around_feed_forward = make_residual(**sizes.residual)

    def forward(
        self, states: Tensor, memory: Tensor, may_attend: Tensor, memory_may_attend: Tensor
    ) -> Tensor:
        """All target positions at once, as in training.

        Args:
            states: (B, T, D).
            memory: (B, S, D), the encoder's output.
            may_attend: broadcastable to (B, H, T, T): target to target.
            memory_may_attend: broadcastable to (B, H, T, S): target to source.

        Returns:
            (B, T, D).
        """
        states = self.around_self_attention(
            states, lambda inner: self.self_attention(inner, inner, may_attend)
        )
        states = self.around_cross_attention(
            states, lambda inner: self.cross_attention(inner, memory, memory_may_attend)
        )
        output: Tensor = self.around_feed_forward(states, self.feed_forward)
        return output

    def start(self, memory: Tensor) -> LayerCache:
        """Projects the memory (B, S, D) once for all steps to come."""
        return LayerCache(*self.cross_attention.keys_and_values(memory))

    def step(self, states: Tensor, cache: LayerCache, memory_may_attend: Tensor) -> Tensor:
        """The newest target position of every beam, (B, K, D) -> (B, K, D).

        The beams of a sentence are so many queries to its one memory: the source's keys and values
        are never repeated.
        """
        states = self.around_self_attention(
            states, lambda inner: self._attend_to_past(inner, cache)
        )
        states = self.around_cross_attention(
            states,
            lambda inner: self.cross_attention.attend(
                self.cross_attention.queries(inner),
                cache.memory_keys,
                cache.memory_values,
                memory_may_attend,
            ),
        )
        output: Tensor = self.around_feed_forward(states, self.feed_forward)
        return output

    def _attend_to_past(self, states: Tensor, cache: LayerCache) -> Tensor:
        """Every beam attends to its own past, itself included; (B, K, D) -> (B, K, D)."""
        rows = states.flatten(0, 1).unsqueeze(1)
        queries = self.self_attention.queries(rows, cache.length)
        keys, values = cache.append(*self.self_attention.keys_and_values(rows, cache.length))
        return self.self_attention.attend(queries, keys, values, None).view_as(states)


class Decoder(nn.Module):
    """A stack of decoder layers; only a pre-norm stack ends with a norm of its own."""

    def __init__(self, sizes: LayerSizes, layers: int, positions: Positions) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(sizes, positions) for _ in range(layers))
        self.norm = make_norm(sizes.norm, sizes.d_model) if sizes.ends_with_norm else nn.Identity()

    def forward(
        self, states: Tensor, memory: Tensor, may_attend: Tensor, memory_may_attend: Tensor
    ) -> Tensor:
        """(B, T, D) -> (B, T, D); arguments as in :meth:`DecoderLayer.forward`."""
        for layer in self.layers:
            states = layer(states, memory, may_attend, memory_may_attend)
        output: Tensor = self.norm(states)
        return output

    def start(self, memory: Tensor, memory_may_attend: Tensor) -> DecoderCache:
        """The cache of a memory (B, S, D), before the first step."""
        caches = [layer.start(memory) for layer in self._layers()]
        return DecoderCache(caches, memory_may_attend)

    def step(self, states: Tensor, cache: DecoderCache) -> Tensor:
        """The newest position of every beam, (B, K, D) -> (B, K, D); the cache grows by one."""
        for layer, layer_cache in zip(self._layers(), cache.layers, strict=True):
            states = layer.step(states, layer_cache, cache.memory_may_attend)
        cache.beams = states.shape[1]
        output: Tensor = self.norm(states)
        return output

    @property
    def cross_attentions(self) -> list[MultiHeadAttention]:
        """The attentions to the source, one a layer."""
        return [layer.cross_attention for layer in self._layers()]

    def _layers(self) -> Iterator[DecoderLayer]:
        return cast(Iterator[DecoderLayer], iter(self.layers))
