"""What decoding step by step keeps, so that no step computes an earlier one again."""

import torch
from torch import Tensor

BLOCK = 32  # positions for which there is room at first; it doubles when they are taken


class PastCache:
    """Vectors of one kind, keys or values, of all target positions so far.

    They stand position by position, (t, B·K, H, d): a new position is written behind the others
    without a copy of these.
    """

    def __init__(self) -> None:
        self.length = 0
        self._room: Tensor | None = None

    def append(self, newest: Tensor) -> Tensor:
        """Adds one position (B·K, H, d); returns all so far, (t, B·K, H, d)."""
        if self._room is None:
            self._room = newest.new_empty(BLOCK, *newest.shape)
        elif self.length == len(self._room):
            self._room = torch.cat([self._room, torch.empty_like(self._room)])
        self._room[self.length] = newest
        self.length += 1
        return self._room[: self.length]

    def select_rows(self, rows: Tensor) -> None:
        """Keeps these rows, in this order; a row may be repeated."""
        if self._room is not None:
            past = self._room[: self.length]
            self._room = past.new_empty(len(self._room), len(rows), *past.shape[2:])
            torch.index_select(past, 1, rows, out=self._room[: self.length])


class LayerCache:
    """One layer's keys and values: of the source once, of the target as it grows.

    Attributes:
        memory_keys: (B, H, S, d_k), shared by the beams of a sentence.
        memory_values: (B, H, S, d_v); zero at the padding, so that a source of nothing else gives
            zeros.
        memory_weights: (B, H, K, S), how the newest position attended to the source.
        keys: of the target.
        values: of the target.
    """

    def __init__(self, memory_keys: Tensor, memory_values: Tensor) -> None:
        self.memory_keys = memory_keys.contiguous()
        self.memory_values = memory_values.contiguous()
        self.memory_weights: Tensor | None = None
        self.keys = PastCache()
        self.values = PastCache()

    def select_sentences(self, sentences: Tensor) -> None:
        """Keeps these sentences of the source's side, in this order."""
        self.memory_keys = self.memory_keys.index_select(0, sentences)
        self.memory_values = self.memory_values.index_select(0, sentences)


class DecoderCache:
    """The caches of all layers, and how many beams they hold.

    Args:
        layers: one a layer.
        memory_bias: (B, H, 1, S), what is added to scores: 0 for a piece, the lowest finite number
            for padding.
    """

    def __init__(self, layers: list[LayerCache], memory_bias: Tensor) -> None:
        self.layers = layers
        self.memory_bias = memory_bias
        self.beams = 1

    @property
    def length(self) -> int:
        """The target positions so far: where the next one stands."""
        return self.layers[0].keys.length

    @property
    def attention(self) -> Tensor:
        """How the newest position read the source, (B, K, S): the mean of the last layer's heads.

        Zeros for a source of padding alone.
        """
        weights = self.layers[-1].memory_weights
        assert weights is not None
        return weights.masked_fill(self.memory_bias != 0, 0.0).mean(dim=1)

    def reorder_beams(self, parents: Tensor) -> None:
        """Row k of sentence b continues the beam ``parents[b, k]`` from now on.

        Args:
            parents: (B, K) long; K may differ from the number of beams so far.
        """
        if self._all_stay(parents):
            return
        sentences = torch.arange(len(parents), device=parents.device).unsqueeze(1)
        self._select_rows((sentences * self.beams + parents).flatten())
        self.beams = parents.shape[1]

    def keep_sentences(self, sentences: Tensor) -> None:
        """Only these sentences (B',) go on, in this order."""
        beams = torch.arange(self.beams, device=sentences.device)
        self._select_rows((sentences.unsqueeze(1) * self.beams + beams).flatten())
        for layer in self.layers:
            layer.select_sentences(sentences)
        self.memory_bias = self.memory_bias.index_select(0, sentences)

    def _all_stay(self, parents: Tensor) -> bool:
        """Whether every beam continues itself, as in greedy search."""
        beams = torch.arange(self.beams, device=parents.device)
        return parents.shape[1] == self.beams and torch.equal(parents, beams.expand_as(parents))

    def _select_rows(self, rows: Tensor) -> None:
        """Keeps these rows of the target's side."""
        for layer in self.layers:
            layer.keys.select_rows(rows)
            layer.values.select_rows(rows)
