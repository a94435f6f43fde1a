"""What decoding step by step keeps, so that no step computes an earlier one again."""

import torch
from torch import Tensor


class LayerCache:
    """One layer's keys and values: of the source once, of the target as it grows.

    The source's are (B, H, S, d), shared by the beams of a sentence; the target's (B·K, H, t, d).
    """

    def __init__(self, memory_keys: Tensor, memory_values: Tensor) -> None:
        self.memory_keys = memory_keys
        self.memory_values = memory_values
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    @property
    def length(self) -> int:
        """The target positions so far: where the next one stands."""
        return 0 if self.keys is None else self.keys.shape[2]

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Adds one position, (B·K, H, 1, d); returns all keys and values so far."""
        self.keys = key if self.keys is None else torch.cat([self.keys, key], dim=2)
        self.values = value if self.values is None else torch.cat([self.values, value], dim=2)
        return self.keys, self.values

    def select_rows(self, rows: Tensor) -> None:
        """Keeps these rows of the target's side, in this order; a row may be repeated."""
        if self.keys is not None and self.values is not None:
            self.keys = self.keys.index_select(0, rows)
            self.values = self.values.index_select(0, rows)

    def select_sentences(self, sentences: Tensor) -> None:
        """Keeps these sentences of the source's side, in this order."""
        self.memory_keys = self.memory_keys.index_select(0, sentences)
        self.memory_values = self.memory_values.index_select(0, sentences)


class DecoderCache:
    """The caches of all layers, and how many beams they hold."""

    def __init__(self, layers: list[LayerCache], memory_may_attend: Tensor) -> None:
        self.layers = layers
        self.memory_may_attend = memory_may_attend
        self.beams = 1

    @property
    def length(self) -> int:
        """The target positions so far."""
        return self.layers[0].length

    def reorder_beams(self, parents: Tensor) -> None:
        """Row k of sentence b continues the beam ``parents[b, k]`` from now on.

        Args:
            parents: (B, K) long; K may differ from the number of beams so far.
        """
        sentences = torch.arange(len(parents), device=parents.device).unsqueeze(1)
        rows = (sentences * self.beams + parents).flatten()
        for layer in self.layers:
            layer.select_rows(rows)
        self.beams = parents.shape[1]

    def keep_sentences(self, sentences: Tensor) -> None:
        """Only these sentences (B',) go on, in this order."""
        beams = torch.arange(self.beams, device=sentences.device)
        rows = (sentences.unsqueeze(1) * self.beams + beams).flatten()
        for layer in self.layers:
            layer.select_rows(rows)
            layer.select_sentences(sentences)
        self.memory_may_attend = self.memory_may_attend.index_select(0, sentences)
