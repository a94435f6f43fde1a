"""Bars: BLEU by groups of lines, and the words that were found."""

import math
from collections.abc import Sequence
from html import escape

from latimer.reports.groups import FEW, Group
from latimer.reports.markup import bar, metric_text, name_cell, table, with_interval
from latimer.reports.rare_words import Recall
from latimer.scoring import Metric


def group_chart(groups: Sequence[Group], names: Sequence[str], what: str) -> str:
    """A row for each group and system.

    Args:
        groups: of lines.
        names: of the systems.
        what: the groups' labels tell.
    """
    ends = [end for group in groups for score in group.scores for end in _ends(score.bleu)]
    top = _top(ends)
    rows, kinds = [], []
    for group in groups:
        for number, (name, score) in enumerate(zip(names, group.scores, strict=True)):
            lines = f"{group.lines:,}" + (" (few)" if group.lines < FEW else "")
            bleu = metric_text(score.bleu)
            if not score.matching_four_grams:
                bleu += " (no matching 4-grams)"
            rows.append(
                [
                    *([escape(group.label), lines] if number == 0 else ["", ""]),
                    *([name_cell(name)] if len(names) > 1 else []),
                    bar(score.bleu.score, score.bleu.confidence, top),
                    bleu,
                    f"{score.chrf:.2f}",
                    f"{score.length_ratio:.3f}",
                ]
            )
            kinds.append("few" if group.lines < FEW else "")
    system = ["system"] if len(names) > 1 else []
    columns = [escape(what), "lines", *system, "", "BLEU (95%)", "chrF2++", "length ratio"]
    return table(columns, rows, kinds)


def recall_chart(recalls: Sequence[Recall], names: Sequence[str]) -> str:
    """A row for each kind of word and system."""
    rows, kinds = [], []
    for recall in recalls:
        for number, name in enumerate(names):
            share, interval = recall.shares[number], recall.intervals[number]
            words = f"{recall.words:,}" + (" (few)" if recall.words < FEW else "")
            rows.append(
                [
                    *([escape(recall.label), words] if number == 0 else ["", ""]),
                    *([name_cell(name)] if len(names) > 1 else []),
                    bar(share, interval, 100.0),
                    with_interval(share, interval),
                ]
            )
            kinds.append("few" if recall.words < FEW else "")
    system = ["system"] if len(names) > 1 else []
    return table(["pieces", "words", *system, "", "found, % (95%)"], rows, kinds)


def _ends(metric: Metric) -> list[float]:
    return [metric.score, *(metric.confidence or ())]


def _top(values: Sequence[float]) -> float:
    """The next ten above the largest value, where a chart ends."""
    return 10.0 * max(1, math.ceil(max(values, default=0) / 10))
