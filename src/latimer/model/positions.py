"""How the order of the pieces gets into the model (section 3.5)."""

import torch
from torch import Tensor, nn


class Positions(nn.Module):
    """The two places where positions can get in; each kind uses one of them."""

    def add(self, vectors: Tensor, first: int) -> Tensor:
        """What enters a stack, for vectors (B, T, D) that begin at position ``first``."""
        return vectors

    def rotate(self, projected: Tensor, first: int) -> Tensor:
        """What self-attention compares, for queries or keys (B, H, T, d_k) likewise."""
        return projected


class SinusoidalPositions(Positions):
    """The paper's: sinusoids are added to the embeddings; sentences of any length."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        if d_model % 2:
            raise ValueError(f"d_model {d_model} is odd: sines and cosines come in pairs")
        self.table = SinusoidTable(d_model)

    def add(self, vectors: Tensor, first: int) -> Tensor:
        """PE(p, ·) is added, (B, T, D)."""
        return vectors + self.table.rows(vectors, first).to(vectors.dtype)


class LearnedPositions(Positions):
    """A learned vector for each position is added (section 3.5, Table 3 row E)."""

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.empty(max_length, d_model))
        nn.init.normal_(self.vectors, std=d_model**-0.5)

    def add(self, vectors: Tensor, first: int) -> Tensor:
        """The vectors of these positions are added, (B, T, D).

        Raises:
            ValueError: a position beyond ``max_length``.
        """
        end = first + vectors.shape[1]
        if end > len(self.vectors):
            raise ValueError(
                f"a sentence of {end} pieces, bos or eos included, is longer than the "
                f"{len(self.vectors)} learned positions (model.max_length)"
            )
        return vectors + self.vectors[first:end]


class RotaryPositions(Positions):
    """A departure from the paper: queries and keys are turned (RoPE, arXiv 2104.09864).

    The numbers 2i and 2i+1 of a head are turned together by p / 10000^(2i/d_k) at position p. So a
    query's product with a key depends on how far apart they stand, not on where. Nothing is added
    to the embeddings, and attention to the source, whose positions are of another kind than the
    target's, turns nothing. Sentences of any length.
    """

    def __init__(self, d_k: int) -> None:
        super().__init__()
        if d_k % 2:
            raise ValueError(f"d_k {d_k} is odd: rotary positions turn pairs of numbers")
        self.table = SinusoidTable(d_k)

    def rotate(self, projected: Tensor, first: int) -> Tensor:
        """The same shape and type; in between, the table's float32."""
        sine, cosine = _pairs(self.table.rows(projected, first))
        x, y = _pairs(projected)
        turned = torch.stack([x * cosine - y * sine, x * sine + y * cosine], dim=-1)
        return turned.flatten(-2).to(projected.dtype)


class SinusoidTable:
    """Sinusoids by position, as many as the longest sentence so far needed.

    No buffer: processes that train together hold tables of different lengths, and parallel training
    and weight averaging copy buffers from one model into another.
    """

    def __init__(self, width: int) -> None:
        self.values = sinusoids(256, width)

    def rows(self, vectors: Tensor, first: int) -> Tensor:
        """(T, width) for vectors (…, T, width) that begin at position ``first``."""
        end = first + vectors.shape[-2]
        # A table made in inference mode would be of no use in training afterwards.
        with torch.inference_mode(mode=False):
            if end > len(self.values):
                self.values = sinusoids(2 * end, vectors.shape[-1])
            self.values = self.values.to(vectors.device)
        return self.values[first:end]


def sinusoids(length: int, width: int) -> Tensor:
    """PE(p, 2i) = sin(p / 10000^(2i/width)), PE(p, 2i+1) = cos of the same (section 3.5).

    Returns:
        (length, width), sines and cosines interleaved.
    """
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    exponent = torch.arange(0, width, 2, dtype=torch.float64) / width
    angle = position / torch.pow(10000.0, exponent)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()


def _pairs(interleaved: Tensor) -> tuple[Tensor, Tensor]:
    """(…, 2n) -> the even and the odd places, (…, n) each."""
    return interleaved[..., 0::2], interleaved[..., 1::2]


def make_positions(kind: str, *, d_model: int, d_k: int, max_length: int | None) -> Positions:
    """Positions "sinusoidal" (the paper's), "rotary", or "learned", up to a ``max_length``."""
    if kind == "sinusoidal" and max_length is None:
        return SinusoidalPositions(d_model)
    if kind == "learned" and max_length is not None:
        return LearnedPositions(d_model, max_length)
    if kind == "rotary" and max_length is None:
        return RotaryPositions(d_k)
    raise ValueError(
        f"positions: {kind!r} with max_length {max_length}; write 'sinusoidal' or 'rotary' without "
        "a max_length, or 'learned' with one"
    )
