"""Embeddings, their scale, and positions (sections 3.4 and 3.5)."""

import math

import torch
from torch import Tensor, nn

from latimer.model.dropout import Dropout


def sinusoids(length: int, d_model: int) -> Tensor:
    """PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos of the same (section 3.5).

    Returns:
        (length, D), sines and cosines interleaved.
    """
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angle = position / torch.pow(10000.0, exponent)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()


class SinusoidalPositions(nn.Module):
    """The paper's positions, for sentences of any length: the table grows when it must."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        if d_model % 2:
            raise ValueError(f"d_model {d_model} is odd: sines and cosines come in pairs")
        # No buffer: processes that train together hold tables of different lengths, and parallel
        # training and weight averaging copy buffers from one model into another.
        self.table = sinusoids(256, d_model)

    def forward(self, vectors: Tensor, first: int) -> Tensor:
        """The positions (T, D) of vectors (B, T, D) that begin at position ``first``."""
        end = first + vectors.shape[1]
        if end > len(self.table):
            self.table = sinusoids(2 * end, vectors.shape[2])
        self.table = self.table.to(vectors.device)
        return self.table[first:end].to(vectors.dtype)


class LearnedPositions(nn.Module):
    """A learned vector for each position (section 3.5, Table 3 row E)."""

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.empty(max_length, d_model))
        nn.init.normal_(self.vectors, std=d_model**-0.5)

    def forward(self, vectors: Tensor, first: int) -> Tensor:
        """The positions (T, D) of vectors (B, T, D) that begin at position ``first``.

        Raises:
            ValueError: a position beyond ``max_length``.
        """
        end = first + vectors.shape[1]
        if end > len(self.vectors):
            raise ValueError(
                f"a sentence of {end} pieces, bos or eos included, is longer than the "
                f"{len(self.vectors)} learned positions (model.max_length)"
            )
        return self.vectors[first:end]


def make_positions(kind: str, d_model: int, max_length: int | None) -> nn.Module:
    """Positions "sinusoidal" (the paper's) or "learned" (which alone have a ``max_length``)."""
    if kind == "sinusoidal" and max_length is None:
        return SinusoidalPositions(d_model)
    if kind == "learned" and max_length is not None:
        return LearnedPositions(d_model, max_length)
    raise ValueError(
        f"positions: {kind!r} with max_length {max_length}; write 'sinusoidal' without a "
        "max_length, or 'learned' with one"
    )


class Embedding(nn.Module):
    """dropout(embedding · √D + position): what enters a stack (sections 3.4, 3.5, 5.4)."""

    def __init__(self, pieces: nn.Embedding, positions: nn.Module, dropout: float) -> None:
        super().__init__()
        self.pieces = pieces
        self.positions = positions
        self.scale = math.sqrt(pieces.embedding_dim)
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, first: int = 0) -> Tensor:
        """Ids (B, T), the first of them at position ``first``, to vectors (B, T, D)."""
        vectors = self.pieces(ids) * self.scale
        states: Tensor = self.dropout(vectors + self.positions(vectors, first))
        return states
