"""The attention weights of one pair of sentences, with the pieces that they belong to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from latimer.model import Transformer
from latimer.tokenizer import BOS_ID, EOS_ID, Tokenizers


@dataclass(frozen=True, kw_only=True)
class AttentionMap:
    """Who attends to whom in one kind of attention (section 3.2.3).

    Attributes:
        kind: "encoder", "decoder" or "cross".
        weights: (layers, H, queries, keys); each row sums to one.
        queries: the piece of each row. A row of the decoder's is called by the piece that comes
            out of it: the next one.
        keys: the piece of each column.
    """

    kind: str
    weights: NDArray[np.float32]
    queries: tuple[str, ...]
    keys: tuple[str, ...]

    def first(self, pieces: int) -> Self:
        """The upper left corner, with no more than so many pieces on either side."""
        return replace(
            self,
            weights=self.weights[..., :pieces, :pieces],
            queries=self.queries[:pieces],
            keys=self.keys[:pieces],
        )


class AttentionMaps(NamedTuple):
    """All attention of a Transformer; with S and T counting eos and bos.

    Attributes:
        encoder: source to source, (layers, H, S, S).
        decoder: target to the target before it, (layers, H, T, T).
        cross: target to source, (layers, H, T, S).
    """

    encoder: AttentionMap
    decoder: AttentionMap
    cross: AttentionMap


def read_weights(
    model: Transformer, tokenizers: Tokenizers, source: Sequence[int], target: Sequence[int]
) -> AttentionMaps:
    """The weights with which a model reads a source and writes a target (teacher forcing).

    Args:
        model: in evaluation mode.
        tokenizers: those that it was trained with.
        source: ids without eos.
        target: ids without bos and eos.
    """
    device = next(model.parameters()).device
    source_ids, target_ids = [*source, EOS_ID], [BOS_ID, *target]
    # In float32, whatever the precision of a training that this may be part of.
    with torch.autocast(device.type, enabled=False):
        encoder, decoder, cross = model.attention_weights(
            torch.tensor([source_ids], device=device), torch.tensor([target_ids], device=device)
        )
    read = tuple(map(tokenizers.source.piece, source_ids))
    before = tuple(map(tokenizers.target.piece, target_ids))
    written = tuple(map(tokenizers.target.piece, [*target, EOS_ID]))
    return AttentionMaps(
        AttentionMap(kind="encoder", weights=_of_one(encoder), queries=read, keys=read),
        AttentionMap(kind="decoder", weights=_of_one(decoder), queries=written, keys=before),
        AttentionMap(kind="cross", weights=_of_one(cross), queries=written, keys=read),
    )


def _of_one(weights: Tensor) -> NDArray[np.float32]:
    """(layers, 1, H, T, S) -> (layers, H, T, S)."""
    array: NDArray[np.float32] = weights[:, 0].float().cpu().numpy()
    return array
