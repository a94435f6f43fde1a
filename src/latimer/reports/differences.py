"""Where two texts differ, word by word."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from html import escape

from latimer.reports.units import Span, unit_spans


def mark_difference(text: str, other: str, language: str, kind: str = "") -> str:
    """The text as HTML, with the words marked that do not stand in the same order in the other.

    Args:
        text: what is shown.
        other: what it is compared with.
        language: of both; in some, characters are compared.
        kind: a class for the marks.
    """
    opened = f'<mark class="{kind}">' if kind else "<mark>"
    written, place = "", 0
    for first, end in _different(text, other, language):
        written += f"{escape(text[place:first])}{opened}{escape(text[first:end])}</mark>"
        place = end
    return written + escape(text[place:])


def _different(text: str, other: str, language: str) -> Iterable[Span]:
    """The slices of the text that the other does not have, neighbouring words together."""
    spans = unit_spans(text, language)
    units, others = (
        [side[first:end] for first, end in unit_spans(side, language)] for side in (text, other)
    )
    matcher = SequenceMatcher(None, others, units, autojunk=False)
    for _, _, _, first, end in (step for step in matcher.get_opcodes() if step[0] != "equal"):
        if first < end:
            yield spans[first][0], spans[end - 1][1]
