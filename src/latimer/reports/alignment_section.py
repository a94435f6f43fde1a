"""Word alignments to look at: a table of shaded cells for each sentence."""

from html import escape

from latimer.reports.alignment import AlignmentView
from latimer.reports.contents import Report, SystemReport
from latimer.reports.markup import details, heading, paragraph, section

ABOUT = (
    "What the words of a translation (rows) attended to in its source (columns), in percent: the "
    "mean of the heads of decoder layer {layer}, summed over the pieces of a source word and "
    "averaged over those of a row's. What a row lacks to 100 went to the end of the sentence; the "
    "frame is its largest cell, and what is below 1 is not written. Attention is no explanation, "
    "but words that are left out or said twice often show."
)
ENSEMBLE = "This system is an ensemble, and has no attention of its own."
NONE = "No translation is short enough to be drawn."
LEAST = 0.01
SHADES = 0.6
"""The darkest shade, so that the figures in it stay readable."""


def make_alignments(report: Report) -> str:
    """The alignments of a few sentences of each system."""
    several = len(report.systems) > 1
    parts = [(heading(s.name) if several else "") + _views(report, s) for s in report.systems]
    return section("alignments", "Word alignments", *parts)


def _views(report: Report, system: SystemReport) -> str:
    if system.alignments is None:
        return paragraph(ENSEMBLE)
    if not system.alignments:
        return paragraph(NONE)
    about = paragraph(ABOUT.format(layer=system.alignments[0].layer))
    views = [
        details(
            f"{view.title}: line {view.row + 1:,} · chrF2++ {system.sentence_scores[view.row]:.1f}",
            _table(view, report.source_language, report.target_language),
        )
        for view in system.alignments
    ]
    return about + "".join(views)


def _table(view: AlignmentView, source_language: str, target_language: str) -> str:
    head = "".join(
        f'<th scope="col" lang="{escape(source_language)}"><span>{escape(word)}</span></th>'
        for word in view.source
    )
    rows = "".join(
        f'<tr><th scope="row" lang="{escape(target_language)}" dir="auto">{escape(word)}</th>'
        f"{_cells(weights)}</tr>\n"
        for word, weights in zip(view.target, view.weights.tolist(), strict=True)
    )
    return (
        '<div class="wide" tabindex="0"><table class="attention">\n'
        f"<thead><tr><th></th>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )


def _cells(weights: list[float]) -> str:
    return "".join(_cell(weight, weight == max(weights)) for weight in weights)


def _cell(weight: float, most: bool) -> str:
    if weight < LEAST:
        return "<td></td>"
    kind = ' class="most"' if most else ""
    shade = f"background:rgba(var(--shade),{SHADES * min(weight, 1):.2f})"
    return f'<td{kind} style="{shade}">{100 * weight:.0f}</td>'
