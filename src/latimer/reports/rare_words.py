"""How many words of the references a translation finds, by how rare they are."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latimer.reports.groups import FEW
from latimer.scoring import PartScorer
from latimer.tokenizer import UNK_ID, Tokenizer

UNKNOWN = "unknown characters"
LABELS = ("1", "2", "3", "4+", UNKNOWN)
SEED = 12345
LONE_SPACE = "▁"

Counts = NDArray[np.int64]
"""Words of each line and of each of :data:`LABELS`, (lines, labels)."""


@dataclass(frozen=True)
class Recall:
    """The words of the references that the tokenizer cuts into as many pieces.

    Attributes:
        label: how many pieces, one of :data:`LABELS`.
        words: how many words, each as often as it occurs.
        shares: for each system, which share of them its translations have, in percent. A word that
            stands twice in a reference is found twice only if the translation has it twice.
        intervals: for each system, low and high end of the share's 95% interval, by bootstrap over
            the lines; None without bootstrap, and for few words.
    """

    label: str
    words: int
    shares: tuple[float, ...]
    intervals: tuple[tuple[float, float] | None, ...]


def find_recall(
    systems: Sequence[Sequence[str]],
    references: Sequence[str],
    tokenizer: Tokenizer,
    scorer: PartScorer,
) -> list[Recall]:
    """The recall of each kind of word that the references have.

    Words are those that BLEU finds, but for those without any letter or digit.

    Args:
        systems: each one's translations.
        references: as many lines.
        tokenizer: of the target.
        scorer: how words are found and compared.
    """
    wanted = [_count(words) for words in scorer.words(references)]
    kinds = _kinds({word for words in wanted for word in words}, tokenizer)
    totals = _by_kind(wanted, kinds)
    found = [
        _by_kind([w & Counter(t) for w, t in zip(wanted, scorer.words(texts), strict=True)], kinds)
        for texts in systems
    ]
    return list(_recalls(totals, found, scorer.bootstrap))


def _count(words: Sequence[str]) -> Counter[str]:
    return Counter(word for word in words if re.search(r"[^\W_]", word))


def _kinds(words: set[str], tokenizer: Tokenizer) -> dict[str, int]:
    """The column of each word's number of pieces."""
    ordered = sorted(words)
    encoded = tokenizer.encode_batch(ordered)
    return {word: _kind(ids, tokenizer) for word, ids in zip(ordered, encoded, strict=True)}


def _kind(ids: Sequence[int], tokenizer: Tokenizer) -> int:
    if UNK_ID in ids:
        return LABELS.index(UNKNOWN)
    pieces = sum(tokenizer.piece(piece) != LONE_SPACE for piece in ids)
    return min(max(pieces, 1), 4) - 1


def _by_kind(lines: Sequence[Counter[str]], kinds: dict[str, int]) -> Counts:
    counts = np.zeros((len(lines), len(LABELS)), dtype=np.int64)
    for row, words in enumerate(lines):
        for word, number in words.items():
            counts[row, kinds[word]] += number
    return counts


def _recalls(totals: Counts, found: Sequence[Counts], bootstrap: int) -> Iterator[Recall]:
    lines = len(totals)
    # How often each resample holds each line.
    drawn = np.random.default_rng(SEED).multinomial(lines, np.full(lines, 1 / lines), bootstrap)
    for column, label in enumerate(LABELS):
        words = int(totals[:, column].sum())
        if words:
            intervals = [
                _interval(drawn @ counts[:, column], drawn @ totals[:, column])
                if bootstrap and words >= FEW
                else None
                for counts in found
            ]
            shares = [100 * int(counts[:, column].sum()) / words for counts in found]
            yield Recall(label, words, tuple(shares), tuple(intervals))


def _interval(found: Counts, totals: Counts) -> tuple[float, float] | None:
    """The middle 95% of the shares; None where too few resamples hold any such word."""
    held = totals > 0
    if held.mean() < 0.99:
        return None
    low, high = np.percentile(100 * found[held] / totals[held], (2.5, 97.5))
    return float(low), float(high)
