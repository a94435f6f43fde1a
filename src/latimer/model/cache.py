"""What decoding step by step keeps, so that no step computes an earlier one again."""

import torch
from torch import Tensor

BLOCK = 32  # positions for which there is room at first; it doubles when they are taken


class PastCache:
    """Vectors of one kind, keys or values, of all target positions so far.

    A row is a beam of a sentence. A new position is written behind the others without a copy of
    these.
    """

    def __init__(self) -> None:
        self.length = 0
        self._room: Tensor | None = None

    def append(self, newest: Tensor) -> Tensor:
        """Adds one position (B·K, H, 1, d); returns all so far, (B·K, H, t, d)."""
        if self._room is None:
            self._room = newest.new_empty(*newest.shape[:2], BLOCK, newest.shape[3])
        elif self.length == self._room.shape[2]:
            self._room = torch.cat([self._room, torch.empty_like(self._room)], dim=2)
        self.length += 1
        self._room[:, :, self.length - 1 : self.length] = newest
        return self._room[:, :, : self.length]

    def select_rows(self, rows: Tensor, first: int = 0) -> None:
        """Keeps these rows, in this order; a row may be repeated.

        Args:
            rows: which to keep.
            first: the position before which each of them is what stood in its place before.
        """
        if self._room is None:
            return
        if len(rows) == len(self._room):
            past = self._room[:, :, first : self.length]
            past.copy_(past.index_select(0, rows))
        else:
            self._room = self._room.index_select(0, rows)


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
        # (B·K, t): in which row a position was written. Rows with the same writer of a position are
        # the same up to there, as beams mostly are but for their last pieces.
        self._writers = memory_bias.new_empty(len(memory_bias), 0, dtype=torch.long)

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

    def end_step(self, beams: int) -> None:
        """Every layer has kept one more position, of so many beams a sentence."""
        self.beams = beams
        rows = torch.arange(len(self.memory_bias) * beams, device=self.memory_bias.device)
        newest = rows.unsqueeze(1)
        before = self._writers if self.length > 1 else newest[:, :0]
        self._writers = torch.cat([before, newest], dim=1)

    def reorder_beams(self, parents: Tensor) -> None:
        """Row k of sentence b continues the beam ``parents[b, k]`` from now on.

        Args:
            parents: (B, K) long; K may differ from the number of beams so far.
        """
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

    def _select_rows(self, rows: Tensor) -> None:
        """Keeps these rows of the target's side; what stays as it is isn't moved."""
        writers = self._writers.index_select(0, rows)
        first = _first_difference(writers, self._writers) if self.length else 0
        self._writers = writers
        for layer in self.layers:
            layer.keys.select_rows(rows, first)
            layer.values.select_rows(rows, first)


def _first_difference(ours: Tensor, theirs: Tensor) -> int:
    """The first column in which two tables differ; their width where they are alike."""
    if ours.shape != theirs.shape:
        return 0
    different = (ours != theirs).any(dim=0).nonzero()
    return int(different[0]) if len(different) else ours.shape[1]
