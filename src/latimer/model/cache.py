"""What decoding step by step keeps, so that no step computes an earlier one again."""

from collections.abc import Iterator

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

    def overwrite(self, places: Tensor, sources: Tensor) -> None:
        """What stood at ``sources`` comes to stand at ``places`` as well.

        Args:
            places: (M,) long, places of (t, B·K), counted through.
            sources: (M,) long, likewise.
        """
        assert self._room is not None
        vectors = self._room.flatten(0, 1)
        vectors.index_copy_(0, places, vectors.index_select(0, sources))


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
        # (t, B·K): which of the rows of its time wrote what a row holds at a position.
        self._writers = memory_bias.new_empty(0, len(memory_bias), dtype=torch.long)

    @property
    def length(self) -> int:
        """The target positions so far: where the next one stands."""
        return len(self._writers)

    @property
    def attention(self) -> Tensor:
        """How the newest position read the source, (B, K, S): the mean of the last layer's heads.

        Zeros for a source of padding alone.
        """
        weights = self.layers[-1].memory_weights
        assert weights is not None
        return weights.masked_fill(self.memory_bias != 0, 0.0).mean(dim=1)

    def end_step(self, beams: int) -> None:
        """All layers have added a position of so many beams a sentence."""
        self.beams = beams
        rows = torch.arange(len(self.memory_bias) * beams, device=self.memory_bias.device)
        self._writers = torch.cat([self._writers.view(-1, len(rows)), rows.unsqueeze(0)])

    def reorder_beams(self, parents: Tensor) -> None:
        """Row k of sentence b continues the beam ``parents[b, k]`` from now on.

        Args:
            parents: (B, K) long; K may differ from the number of beams so far.
        """
        sentences = torch.arange(len(parents), device=parents.device).unsqueeze(1)
        rows = (sentences * self.beams + parents).flatten()
        if parents.shape[1] == self.beams:
            self._exchange_rows(rows)
        else:
            self._select_rows(rows)
            self.beams = parents.shape[1]

    def keep_sentences(self, sentences: Tensor) -> None:
        """Only these sentences (B',) go on, in this order."""
        beams = torch.arange(self.beams, device=sentences.device)
        self._select_rows((sentences.unsqueeze(1) * self.beams + beams).flatten())
        for layer in self.layers:
            layer.select_sentences(sentences)
        self.memory_bias = self.memory_bias.index_select(0, sentences)

    def _exchange_rows(self, rows: Tensor) -> None:
        """As many rows as before, in place: only what another row wrote is moved.

        Beams part late, so that a fifth of the past moves at 10 positions, and a thirtieth at 60.
        """
        writers = self._writers.index_select(1, rows)
        places = (writers != self._writers).flatten().nonzero().squeeze(1)
        sources = places - places % len(rows) + rows[places % len(rows)]
        self._writers = writers
        if len(places):
            for past in self._pasts():
                past.overwrite(places, sources)

    def _select_rows(self, rows: Tensor) -> None:
        """Keeps these rows of the target's side."""
        self._writers = self._writers.index_select(1, rows)
        for past in self._pasts():
            past.select_rows(rows)

    def _pasts(self) -> Iterator[PastCache]:
        for layer in self.layers:
            yield layer.keys
            yield layer.values
