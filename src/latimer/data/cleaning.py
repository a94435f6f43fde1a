"""What is dropped from the training split, and how often for which reason.

Whole pairs are dropped, never one side, and only from training: a score on a validation or test
set that quietly lost its hard sentences would be worth nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray

from latimer.config.data import CleaningConfig
from latimer.data.pairs import subset, texts
from latimer.errors import LatimerError

# Why a pair is dropped; the first reason that applies counts.
REASONS = ("blank", "copy", "ratio", "duplicate", "in_test", "too_long")
WORTH_A_WARNING = 0.10


@dataclass(frozen=True)
class Counts:
    """How many pairs were read and how many of them dropped, by reason."""

    read: int
    dropped: dict[str, int]

    @property
    def kept(self) -> int:
        """The pairs that are left."""
        return self.read - sum(self.dropped.values())

    def and_dropped(self, reason: str, number: int) -> "Counts":
        """The counts after ``number`` more pairs were dropped."""
        return Counts(self.read, self.dropped | {reason: self.dropped[reason] + number})

    def as_dict(self) -> dict[str, int]:
        """Plain figures: read, each reason, kept; read is the sum of the others."""
        return {"read": self.read, **self.dropped, "kept": self.kept}

    def as_rows(self) -> list[tuple[str, str, str]]:
        """Rows of a table: what, pairs, percent of those read."""
        return [
            (name.replace("_", " "), f"{number:,}", f"{number / max(self.read, 1):.1%}")
            for name, number in self.as_dict().items()
        ]

    def summary(self) -> str:
        """One line, such as "kept 6 of 10 (too long 4)"."""
        reasons = [f"{name.replace('_', ' ')} {n}" for name, n in self.dropped.items() if n]
        return f"kept {self.kept} of {self.read}" + (f" ({', '.join(reasons)})" if reasons else "")

    def warning(self) -> str | None:
        """What to tell when more than a tenth of the corpus was dropped, else None."""
        if self.read - self.kept <= WORTH_A_WARNING * self.read:
            return None
        return f"Cleaning dropped much of the training split: {self.summary()}. See data.cleaning."

    def check(self) -> None:
        """Raises LatimerError when no pair is left."""
        if self.kept == 0:
            raise LatimerError(
                f"data.train: {self.summary()}; nothing to train on. See data.cleaning."
            )


def clean(
    pairs: Dataset, settings: CleaningConfig, held_out: Sequence[Dataset]
) -> tuple[Dataset, Counts]:
    """Drops pairs for every reason that can be told from the text.

    Args:
        pairs: the training split.
        settings: the limits.
        held_out: the validation and test sets. A pair is "in test" when both its sides stand
            together in one of them; blanks around a text do not count.

    Returns:
        The pairs that are left, in order, and the counts.

    Raises:
        LatimerError: no pair is left.
    """
    seen: set[bytes] = set()
    tested = _keys(held_out) if settings.drop_in_test else set()
    dropped = dict.fromkeys(REASONS, 0)
    kept = []
    for row, (source, target) in enumerate(texts(pairs)):
        reason = _reason(source.strip(), target.strip(), settings, seen, tested)
        if reason is None:
            kept.append(row)
        else:
            dropped[reason] += 1
    counts = Counts(len(pairs), dropped)
    counts.check()
    return subset(pairs, kept), counts


def drop_long(
    source_lengths: NDArray[np.integer], target_lengths: NDArray[np.integer], max_length: int
) -> NDArray[np.intp]:
    """Returns the rows whose sides both fit into ``max_length`` pieces, in order.

    Args:
        source_lengths: pieces of each source, without the end of sentence.
        target_lengths: likewise of each target.
        max_length: the limit, with the end of sentence.
    """
    return np.flatnonzero(np.maximum(source_lengths, target_lengths) + 1 <= max_length)


def overlaps(training: Dataset, held_out: Mapping[str, Dataset]) -> dict[str, dict[str, int]]:
    """Counts the rows of each held-out set that training has seen: pairs, sources and targets."""
    rows = {name: [_views(*pair) for pair in texts(pairs)] for name, pairs in held_out.items()}
    wanted = {view for of_one_set in rows.values() for views in of_one_set for view in views}
    seen = {view for pair in texts(training) for view in _views(*pair) if view in wanted}
    return {
        name: {
            counted: sum(views[place] in seen for views in of_one_set)
            for place, counted in enumerate(("pairs", "sources", "targets"))
        }
        for name, of_one_set in rows.items()
    }


def _views(source: str, target: str) -> tuple[tuple[int, bytes], ...]:
    """A pair and its sides, as :func:`overlaps` compares them: a source with sources alone."""
    return tuple(enumerate((_key(source, target), _key(source), _key(target))))


def _reason(
    source: str, target: str, settings: CleaningConfig, seen: set[bytes], tested: set[bytes]
) -> str | None:
    if not source or not target:
        return "blank"
    if settings.drop_copies and source == target:
        return "copy"
    shorter, longer = sorted((len(source), len(target)))
    if longer > settings.max_ratio * shorter:
        return "ratio"
    key = _key(source, target)
    if settings.drop_duplicates and key in seen:
        return "duplicate"
    seen.add(key)
    return "in_test" if key in tested else None


def _keys(corpora: Sequence[Dataset]) -> set[bytes]:
    return {_key(*pair) for pairs in corpora for pair in texts(pairs)}


def _key(*sides: str) -> bytes:
    """Stands for texts in a set: 16 bytes, however long they are and whatever the process."""
    return blake2b("\n".join(side.strip() for side in sides).encode(), digest_size=16).digest()
