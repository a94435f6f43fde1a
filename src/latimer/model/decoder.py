"""The decoder: N layers that attend to the target so far and to the source (section 3.1)."""

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor, nn

from latimer.model.attention import MultiHeadAttention
from latimer.model.cache import DecoderCache, LayerCache
from latimer.model.feed_forward import make_feed_forward
from latimer.model.hyperparameters import LayerSizes
from latimer.model.positions import Positions
from latimer.model.residual import make_norm, make_residual
from latimer.model.step_attention import attend_to_past, attend_to_source, padding_bias


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

    def start(self, memory: Tensor, memory_may_attend: Tensor) -> LayerCache:
        """Projects the memory (B, S, D) once for all steps to come."""
        keys, values = self.cross_attention.keys_and_values(memory)
        return LayerCache(keys, values.masked_fill(~memory_may_attend.transpose(2, 3), 0.0))

    def step(self, states: Tensor, cache: LayerCache, memory_bias: Tensor) -> Tensor:
        """The newest target position of every beam, (B, K, D) -> (B, K, D).

        The beams of a sentence are so many queries to its one memory: the source's keys and values
        are never repeated.
        """
        states = self.around_self_attention(
            states, lambda inner: self._attend_to_past(inner, cache)
        )
        states = self.around_cross_attention(
            states, lambda inner: self._attend_to_source(inner, cache, memory_bias)
        )
        output: Tensor = self.around_feed_forward(states, self.feed_forward)
        return output

    def _attend_to_past(self, states: Tensor, cache: LayerCache) -> Tensor:
        """Every beam attends to its own past, itself included; (B, K, D) -> (B, K, D)."""
        rows, position = states.flatten(0, 1).unsqueeze(1), cache.keys.length
        query = self.self_attention.queries(rows, position)
        key, value = self.self_attention.keys_and_values(rows, position)
        keys, values = cache.keys.append(key.squeeze(2)), cache.values.append(value.squeeze(2))
        attended = attend_to_past(query.squeeze(2), keys, values)
        output: Tensor = self.self_attention.output(attended.flatten(1))
        return output.view_as(states)

    def _attend_to_source(self, states: Tensor, cache: LayerCache, bias: Tensor) -> Tensor:
        """All beams of a sentence attend to its source; (B, K, D) -> (B, K, D)."""
        queries = self.cross_attention.queries(states)
        attended, cache.memory_weights = attend_to_source(
            queries, cache.memory_keys, cache.memory_values, bias
        )
        output: Tensor = self.cross_attention.output(attended.transpose(1, 2).flatten(2))
        return output


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

    @torch.no_grad()
    def start(self, memory: Tensor, memory_may_attend: Tensor) -> DecoderCache:
        """The cache of a memory (B, S, D), before the first step."""
        caches = [layer.start(memory, memory_may_attend) for layer in self._layers()]
        return DecoderCache(caches, padding_bias(memory_may_attend, caches[0].memory_keys))

    @torch.no_grad()
    def step(self, states: Tensor, cache: DecoderCache) -> Tensor:
        """The newest position of every beam, (B, K, D) -> (B, K, D); the cache grows by one."""
        for layer, layer_cache in zip(self._layers(), cache.layers, strict=True):
            states = layer.step(states, layer_cache, cache.memory_bias)
        cache.end_step(states.shape[1])
        output: Tensor = self.norm(states)
        return output

    @property
    def cross_attentions(self) -> list[MultiHeadAttention]:
        """The attentions to the source, one a layer."""
        return [layer.cross_attention for layer in self._layers()]

    def _layers(self) -> Iterator[DecoderLayer]:
        return cast(Iterator[DecoderLayer], iter(self.layers))
