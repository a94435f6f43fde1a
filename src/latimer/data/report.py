"""What happened to a corpus on its way into batches, in plain figures and as a table."""

from typing import Any

import numpy as np

from latimer.data.cleaning import Counts
from latimer.data.encoded import EncodedPairs, Side
from latimer.tokenizer import UNK_ID

MANY_UNKNOWN = 0.005
COLUMNS = ("training pairs", "number", "share")


def describe(pairs: EncodedPairs) -> dict[str, dict[str, float]]:
    """Figures of both sides of a split: pieces (special ids left out), lengths, unknown pieces."""
    return {"source": _describe_side(pairs.source), "target": _describe_side(pairs.target)}


def report_rows(report: dict[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, str, str]]]:
    """Columns and rows of the table of what was read, dropped for which reason, and kept.

    Args:
        report: that of a :class:`~latimer.data.prepared.PreparedCorpus`.
    """
    return COLUMNS, Counts(report["train"]["read"], report["train"]["dropped"]).as_rows()


def find_warnings(report: dict[str, Any]) -> list[str]:
    """What the person at the keyboard should know before trusting a score.

    Args:
        report: with the entries "train", "validation" and "leaks".
    """
    counts = Counts(report["train"]["read"], report["train"]["dropped"])
    dropped = counts.warning()
    leaks = [
        f"data.{name}: {leak['pairs']} of its pairs also stand in the training split; "
        "data.cleaning.drop_in_test=true drops them there."
        for name, leak in report["leaks"].items()
        if leak["pairs"]
    ]
    unknown = [
        f"data.{split}: {report[split][side]['unknown_share']:.1%} of the {side} pieces are "
        "unknown to the tokenizer; tokenizer.byte_fallback=true spells them."
        for split in ("train", "validation")
        for side in ("source", "target")
        if report[split][side]["unknown_share"] > MANY_UNKNOWN
    ]
    return [*([dropped] if dropped else []), *leaks, *unknown]


def _describe_side(side: Side) -> dict[str, float]:
    pieces = len(side.ids)
    return {
        "pieces": pieces,
        "mean_length": round(pieces / len(side.lengths), 2),
        "longest": int(side.lengths.max()),
        "unknown_share": round(np.count_nonzero(side.ids == UNK_ID) / max(pieces, 1), 6),
    }
