"""Sentences to look at: the worst and the best, and where two systems differ most."""

from collections.abc import Sequence
from html import escape

from latimer.reports.choice import most_different, worst_and_best
from latimer.reports.contents import Report, SystemReport
from latimer.reports.differences import mark_difference
from latimer.reports.markup import details, heading, paragraph, section

ABOUT = (
    "By chrF2++ of the sentence, which counts the characters and words that translation and "
    "reference share. In a translation the words are marked that its reference does not have there,"
    " in a reference those that the translation lacks. Lines without a source or a reference are "
    "not ranked."
)
ABOUT_PAIRS = (
    "By the difference of the sentences' chrF2++. In each translation the words are marked that "
    "the other one does not have there."
)
NONE = "There are none."


def make_sentences(report: Report) -> str:
    """The worst and the best sentences of each system."""
    parts = [_extremes(report, system) for system in report.systems]
    return section("sentences", "Worst and best sentences", paragraph(ABOUT), *parts)


def make_pairs(report: Report) -> str:
    """Where each system differs most from the first one; nothing for one system."""
    first, *others = report.systems
    parts = [_pairs(report, first, other) for other in others]
    if not parts:
        return ""
    return section("differences", "Side by side", paragraph(ABOUT_PAIRS), *parts)


def show_sentence(report: Report, row: int, system: SystemReport, about: str) -> str:
    """One sentence: source, reference and translation, with the differences marked."""
    language = report.target_language
    reference, text = report.references[row], system.texts[row]
    return _article(
        about,
        _said("source", escape(report.sources[row]), report.source_language),
        _said("reference", mark_difference(reference, text, language, "missing"), language),
        _said("translation", mark_difference(text, reference, language), language),
    )


def _extremes(report: Report, system: SystemReport) -> str:
    worst, best = worst_and_best(report.sources, report.references, system.sentence_scores)
    kinds = (("The worst", worst), ("The best", best))
    parts = [
        details(f"{kind} {len(rows)}", _listed(report, system, rows), opened=rows is worst)
        for kind, rows in kinds
        if rows
    ]
    name = heading(system.name) if len(report.systems) > 1 else ""
    return name + ("".join(parts) or paragraph(NONE))


def _listed(report: Report, system: SystemReport, rows: Sequence[int]) -> str:
    return "".join(
        show_sentence(
            report, row, system, f"line {row + 1:,} · chrF2++ {system.sentence_scores[row]:.1f}"
        )
        for row in rows
    )


def _pairs(report: Report, first: SystemReport, other: SystemReport) -> str:
    better, worse = most_different(first.sentence_scores, other.sentence_scores)
    kinds = ((f"{other.name} is better", better), (f"{first.name} is better", worse))
    parts = [
        details(
            f"{what}: the {len(rows)} largest differences",
            "".join(_pair(report, row, first, other) for row in rows),
        )
        for what, rows in kinds
        if rows
    ]
    return heading(f"{first.name} and {other.name}") + ("".join(parts) or paragraph(NONE))


def _pair(report: Report, row: int, first: SystemReport, other: SystemReport) -> str:
    language, texts = report.target_language, (first.texts[row], other.texts[row])
    scores = first.sentence_scores[row], other.sentence_scores[row]
    return _article(
        f"line {row + 1:,} · chrF2++ {scores[0]:.1f} and {scores[1]:.1f}",
        _said("source", escape(report.sources[row]), report.source_language),
        _said("reference", escape(report.references[row]), language),
        _said(first.name, mark_difference(*texts, language), language),
        _said(other.name, mark_difference(*texts[::-1], language), language),
    )


def _article(about: str, *parts: str) -> str:
    return f"<article>\n<h4>{escape(about)}</h4>\n<dl>\n{''.join(parts)}</dl>\n</article>\n"


def _said(name: str, html: str, language: str) -> str:
    """A text; an empty one is said to be empty."""
    text = html if html.strip() else '<span class="quiet">(blank)</span>'
    return f'<dt>{escape(name)}</dt><dd lang="{escape(language)}" dir="auto">{text}</dd>\n'
