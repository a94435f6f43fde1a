"""What can be counted before a training: parameters, and one pass over the training split."""

from dataclasses import dataclass

from torch import nn

from latimer.data.encoded import EncodedPairs
from latimer.data.loaders import TrainingLoader
from latimer.model import Transformer

BLOCKS = (
    ("embeddings", ("source_embedding", "target_embedding")),
    ("encoder", ("encoder",)),
    ("decoder", ("decoder",)),
    ("output", ("output",)),
)
"""Parts of the model; a matrix that several share is counted in the first of them."""
BLOCK_COLUMNS = ("parameters", "number", "trained", "frozen")


def count_blocks(model: Transformer) -> list[tuple[str, int, int, int]]:
    """For each block, and last for all: its parameters, the trained and the frozen ones of them."""
    counted: set[nn.Parameter] = set()
    rows = []
    for name, parts in BLOCKS:
        own = {p for part in parts for p in getattr(model, part).parameters()} - counted
        counted |= own
        trained = sum(p.numel() for p in own if p.requires_grad)
        frozen = sum(p.numel() for p in own if not p.requires_grad)
        rows.append((name if own else f"{name} (shared)", trained + frozen, trained, frozen))
    _, all_of_them, trained_ones, frozen_ones = zip(*rows, strict=True)
    return [*rows, ("all", sum(all_of_them), sum(trained_ones), sum(frozen_ones))]


@dataclass(frozen=True)
class Epoch:
    """One pass over the training split; pieces include the end of each sentence.

    Attributes:
        pairs: of the split.
        source: pieces of the sources.
        target: pieces of the targets.
        updates: optimizer updates.
        padding: share of padding among the cells of both sides.
    """

    pairs: int
    source: int
    target: int
    updates: int
    padding: float

    @classmethod
    def of(cls, pairs: EncodedPairs, training: TrainingLoader) -> "Epoch":
        """Counts the epochs of a loader; with BPE-dropout the pieces become more than these."""
        return cls(
            pairs=len(pairs),
            source=int(pairs.source_lengths.sum()) + len(pairs),
            target=int(pairs.target_lengths.sum()) + len(pairs),
            updates=len(training),
            padding=training.batches.padding_share(),
        )
