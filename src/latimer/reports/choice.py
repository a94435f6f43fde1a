"""Which sentences are worth a look."""

from collections.abc import Sequence

SHOWN = 10
"""Sentences of each kind on a page."""


def worst_and_best(
    sources: Sequence[str], references: Sequence[str], scores: Sequence[float]
) -> tuple[list[int], list[int]]:
    """The rows with the lowest and with the highest scores, the extreme ones first.

    Where the source or the reference is blank, a score says nothing. No row is in both lists. Of
    rows that score alike, the longer reference comes first among the best, the earlier among the
    worst.
    """
    rows = [row for row, pair in enumerate(zip(sources, references, strict=True)) if _tells(*pair)]
    worst = sorted(rows, key=lambda row: (scores[row], row))[: min(SHOWN, (len(rows) + 1) // 2)]
    best = sorted(
        set(rows) - set(worst), key=lambda row: (-scores[row], -len(references[row]), row)
    )
    return worst, best[: min(SHOWN, len(rows) // 2)]


def most_different(first: Sequence[float], other: Sequence[float]) -> tuple[list[int], list[int]]:
    """The rows where the other system is better by most, and those where it is worse by most."""
    gains = [after - before for before, after in zip(first, other, strict=True)]
    rows = sorted(range(len(gains)), key=lambda row: (-gains[row], row))
    better = [row for row in rows if gains[row] > 0][:SHOWN]
    worse = [row for row in reversed(rows) if gains[row] < 0][:SHOWN]
    return better, worse


def _tells(source: str, reference: str) -> bool:
    return bool(source.strip() and reference.strip())
