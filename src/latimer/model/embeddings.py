"""Embeddings, their scale, and the matrices that they share (sections 3.4 and 3.5)."""

import math

from torch import Tensor, nn

from latimer.model.dropout import Dropout
from latimer.model.positions import Positions


class Embedding(nn.Module):
    """dropout(embedding · √D + position): what enters a stack (sections 3.4, 3.5, 5.4)."""

    def __init__(self, pieces: nn.Embedding, positions: Positions, dropout: float) -> None:
        super().__init__()
        self.pieces = pieces
        self.positions = positions
        self.scale = math.sqrt(pieces.embedding_dim)
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, first: int = 0) -> Tensor:
        """Ids (B, T), the first of them at position ``first``, to vectors (B, T, D)."""
        vectors = self.pieces(ids) * self.scale
        states: Tensor = self.dropout(self.positions.add(vectors, first))
        return states


def make_vocabulary_matrices(
    source_vocab_size: int, target_vocab_size: int, d_model: int, tying: str
) -> tuple[nn.Embedding, nn.Embedding, nn.Linear]:
    """The source's and target's embeddings and the pre-softmax matrix, tied as asked.

    Raises:
        ValueError: one matrix for vocabularies of two sizes, or an unknown ``tying``.
    """
    if tying not in ("none", "decoder", "all"):
        raise ValueError(f"tying: {tying!r} is not one of none, decoder, all")
    if tying == "all" and source_vocab_size != target_vocab_size:
        raise ValueError(
            f"tying=all shares one matrix, but the source has {source_vocab_size} pieces "
            f"and the target {target_vocab_size}"
        )
    target = nn.Embedding(target_vocab_size, d_model)
    source = target if tying == "all" else nn.Embedding(source_vocab_size, d_model)
    output = nn.Linear(d_model, target_vocab_size, bias=False)
    if tying != "none":
        output.weight = target.weight
    return source, target, output
