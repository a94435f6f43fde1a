"""BLEU by groups of lines: by the length of the source, and by how rare its words are.

A checkpoint does not hold how often each word stood in its training text. But its tokenizer was
made of that text, and cuts a word into the more pieces the rarer it was there.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from latimer.reports.units import units
from latimer.scoring import GroupScore, PartScorer, has_no_spaces
from latimer.tokenizer import Tokenizer

FEW = 30
"""Lines, or words, below which a figure is hardly more than an accident, and gets no interval."""
WORD_BOUNDS = (0, 5, 10, 15, 20, 30, 50)
CHARACTER_BOUNDS = (0, 10, 20, 30, 40, 60, 100)
BLANK = "blank"

Rows = Mapping[str, Sequence[int]]
"""The rows of each group by its label; every row is in exactly one group."""


@dataclass(frozen=True)
class Group:
    """Some lines of a test set.

    Attributes:
        label: what they have in common.
        lines: how many.
        scores: one for each system.
    """

    label: str
    lines: int
    scores: tuple[GroupScore, ...]


def by_length(sources: Sequence[str], language: str) -> Rows:
    """The rows of sources of similar length; groups without any line are left out."""
    bounds = CHARACTER_BOUNDS if has_no_spaces(language) else WORD_BOUNDS
    labels = [BLANK, *(f"{low + 1}–{high}" for low, high in pairwise(bounds)), f"{bounds[-1] + 1}+"]
    lengths = [len(units(source, language)) for source in sources]
    return _by_label(labels, np.searchsorted(bounds, lengths).tolist())


def by_rarity(sources: Sequence[str], language: str, tokenizer: Tokenizer) -> Rows:
    """The rows of each quarter of the sources by their pieces per word; blank ones apart."""
    words = np.array([len(units(source, language)) for source in sources])
    pieces = np.array([len(ids) for ids in tokenizer.encode_batch(list(sources))])
    # Rounded as they are shown, so that no two groups have the same label.
    ratios = np.round(pieces / np.maximum(words, 1), 2)
    if not words.any():
        return {BLANK: range(len(sources))}
    edges = np.unique(np.quantile(ratios[words > 0], (0.25, 0.5, 0.75)))
    numbers = np.where(words > 0, 1 + np.searchsorted(edges, ratios), 0)
    labels = [BLANK, *(_range(ratios[numbers == number]) for number in range(1, len(edges) + 2))]
    return _by_label(labels, numbers.tolist())


def _range(values: NDArray[np.float64]) -> str:
    if not len(values):
        return ""
    low, high = values.min(), values.max()
    return f"{low:.2f}–{high:.2f}" if low < high else f"{low:.2f}"


def score_groups(
    groups: Rows, systems: Sequence[Sequence[str]], references: Sequence[str], scorer: PartScorer
) -> list[Group]:
    """Each group with the scores of each system's translations of its lines."""
    scored = []
    for label, rows in groups.items():
        chosen = [references[row] for row in rows]
        scores = [
            scorer.group([texts[row] for row in rows], chosen, interval=len(rows) >= FEW)
            for texts in systems
        ]
        scored.append(Group(label, len(rows), tuple(scores)))
    return scored


def _by_label(labels: Sequence[str], numbers: Sequence[int]) -> Rows:
    """Rows by the label that each one's number stands for, in the order of the labels."""
    rows = defaultdict[int, list[int]](list)
    for row, number in enumerate(numbers):
        rows[number].append(row)
    return {labels[number]: rows[number] for number in sorted(rows)}
