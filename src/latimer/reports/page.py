"""The whole page."""

from html import escape

from latimer.html_page import make_document
from latimer.reports.alignment_section import make_alignments
from latimer.reports.charts import group_chart, recall_chart
from latimer.reports.contents import Report
from latimer.reports.groups import FEW
from latimer.reports.markup import paragraph, section
from latimer.reports.scores_section import make_head, make_scores
from latimer.reports.search_section import make_searching
from latimer.reports.sentences import make_pairs, make_sentences
from latimer.reports.style import STYLE
from latimer.reports.units import unit_name

ABOUT_FEW = f"Groups of fewer than {FEW} lines are paler and have no interval: they say little."
ABOUT_RARITY = (
    "The tokenizer was made of the training text, and cuts a word into the more pieces the rarer "
    "it was there: so pieces per {unit} of the source tell how rare its words are. The lines that "
    "are not blank are divided by that, into quarters as nearly as lines that tie allow."
)
ABOUT_RECALL = (
    "Of the references' words, as BLEU finds them, the share that the translation of the same line "
    "has, too, by the number of pieces that the tokenizer makes of the word by itself. Punctuation "
    "is left out; a word that stands twice is found twice only if the translation has it twice."
)
OTHERS = " Pieces are those of {name}'s tokenizers, so that all systems face the same groups."
SECTIONS = {
    "scores": "Scores",
    "lengths": "Length",
    "rarity": "Rare words",
    "sentences": "Worst and best",
    "differences": "Side by side",
    "search": "Search errors",
    "greedy": "Greedy",
    "alignments": "Alignments",
}


def make_page(report: Report) -> str:
    """The page's HTML: one file, without scripts, that needs no network."""
    names = list(SECTIONS)
    if len(report.systems) == 1:
        names.remove("differences")
    links = "".join(f'<a href="#{name}">{escape(SECTIONS[name])}</a>\n' for name in names)
    sections = [
        make_scores(report),
        _lengths(report),
        _rarity(report),
        make_sentences(report),
        make_pairs(report),
        make_searching(report),
        make_alignments(report),
    ]
    title = f"{report.test_set}, {report.source_language} → {report.target_language}"
    body = f"{make_head(report)}<nav>\n{links}</nav>\n<main>\n{''.join(sections)}</main>\n"
    return make_document(f"Report: {title}", body, STYLE)


def _lengths(report: Report) -> str:
    unit = unit_name(report.source_language)
    return section(
        "lengths",
        "BLEU by length of the source",
        group_chart(report.lengths, _names(report), unit),
        paragraph(ABOUT_FEW, "quiet"),
    )


def _rarity(report: Report) -> str:
    unit = unit_name(report.source_language).removesuffix("s")
    others = OTHERS.format(name=report.systems[0].name) if len(report.systems) > 1 else ""
    return section(
        "rarity",
        "BLEU by rare words",
        paragraph(ABOUT_RARITY.format(unit=unit) + others),
        group_chart(report.rarity, _names(report), f"pieces per {unit}"),
        paragraph(ABOUT_RECALL),
        recall_chart(report.recall, _names(report)),
    )


def _names(report: Report) -> list[str]:
    return [system.name for system in report.systems]
