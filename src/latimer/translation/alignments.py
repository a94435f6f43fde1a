"""Which word of a translation renders which word of its source, read from cross-attention.

A word's weight on a source word is the sum over the pieces of both, the mean over the heads of one
decoder layer; the word is linked to the source word with the largest. ``docs/alignments.md`` says
how good that is, and in which layer.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence

from latimer.errors import LatimerError
from latimer.model import Transformer
from latimer.model.attention_weights import recorded_weights
from latimer.tokenizer import BOS_ID, EOS_ID, PAD_ID, Span, Tokenizer
from latimer.translation.batches import batches_by_length
from latimer.translation.words import membership

Link = tuple[int, int]
"""A word of the source and a word of the target, both counted from 0."""
Weights = NDArray[np.float32]


class PiecedText(NamedTuple):
    """A text, its pieces without bos and eos, and the slice of the text that each stands for."""

    text: str
    ids: Sequence[int]
    spans: Sequence[Span]

    @classmethod
    def read(cls, text: str, tokenizer: Tokenizer, most: int | None = None) -> Self:
        """A line that is given, of which a model may take no more than the first pieces."""
        return cls(text, tokenizer.encode(text)[:most], tokenizer.spans(text)[:most])

    @classmethod
    def written(cls, ids: Sequence[int], tokenizer: Tokenizer) -> Self:
        """A hypothesis."""
        return cls(tokenizer.decode(ids), ids, tokenizer.decoded_spans(ids))


class Aligner:
    """Aligns sources with targets by having the model write each target (teacher forcing).

    Args:
        model: in evaluation mode.
        layer: a decoder layer, counted from 1; None for the last one.
        reading: take the weights of the step that reads a piece as the newest one (as SHIFT-ATT,
            Chen et al., EMNLP 2020), and not of the step that writes it.
        max_tokens: the budget of a batch, in padded pieces times heads.

    Raises:
        LatimerError: the decoder has no such layer.
    """

    def __init__(
        self,
        model: Transformer,
        *,
        layer: int | None = None,
        reading: bool = False,
        max_tokens: int = 16384,
    ) -> None:
        layers = model.hyperparameters["decoder_layers"]
        self.model = model
        self.layer = layers if layer is None else layer
        self.reading = reading
        self.max_tokens = max_tokens
        if not 1 <= self.layer <= layers:
            raise LatimerError(
                f"alignment layer {self.layer}: the decoder has layers 1 to {layers}"
            )

    def align(self, pairs: Sequence[tuple[PiecedText, PiecedText]]) -> list[list[Link]]:
        """The links of each pair of source and target, ordered by the target's words.

        Every word of the target has one link, but for one without pieces, and where the source has
        no words.
        """
        result: list[list[Link]] = [[] for _ in pairs]
        for rows in batches_by_length(
            [max(len(source.ids), len(target.ids)) for source, target in pairs],
            beams=self.model.hyperparameters["heads"],
            max_tokens=self.max_tokens,
        ):
            batch = [pairs[row] for row in rows]
            for row, pair, weights in zip(rows, batch, self.weights(batch), strict=True):
                result[row] = link(*pair, weights)
        return result

    def weights(self, pairs: Sequence[tuple[PiecedText, PiecedText]]) -> list[Weights]:
        """Each target's pieces on its source's, (T, S); what eos gathers is left out.

        All pairs are one batch.
        """
        device = next(self.model.parameters()).device
        sources = [torch.tensor([*source.ids, EOS_ID]) for source, _ in pairs]
        targets = [torch.tensor([BOS_ID, *target.ids]) for _, target in pairs]
        padded = [
            pad_sequence(rows, batch_first=True, padding_value=PAD_ID).to(device)
            for rows in (sources, targets)
        ]
        attention = self.model.decoder.cross_attentions[self.layer - 1]
        with (
            torch.inference_mode(),
            torch.autocast(device.type, enabled=False),
            recorded_weights(attention) as recorded,
        ):
            self.model.states(*padded)
        mean = recorded[0].mean(dim=1).cpu().numpy()
        first = int(self.reading)
        return [
            weights[first : first + len(target.ids), : len(source.ids)]
            for weights, (source, target) in zip(mean, pairs, strict=True)
        ]


def link(source: PiecedText, target: PiecedText, weights: Weights) -> list[Link]:
    """Each word of the target with the word of the source that it gathers most from.

    Args:
        source: what is read.
        target: what is written.
        weights: (T, S), of the target's pieces on the source's.
    """
    reads, writes = (membership(side.text, side.spans) for side in (source, target))
    if not reads.any():
        return []
    of_words = writes.T @ weights @ reads
    # A source word without pieces can't be meant, though all weights were zero.
    of_words[:, ~reads.any(axis=0)] = -1
    best = of_words.argmax(axis=1)
    return [(int(best[word]), int(word)) for word in np.flatnonzero(writes.any(axis=0))]


def in_pharaoh_format(links: Sequence[Link]) -> str:
    """``0-0 1-2``: source word, hyphen, target word, both counted from 0."""
    return " ".join(f"{source}-{target}" for source, target in links)
