"""What a text is counted and compared in: words, or characters where no spaces set words apart."""

import re

from latimer.scoring import has_no_spaces

Span = tuple[int, int]


def unit_name(language: str) -> str:
    """In the plural, as a page writes it."""
    return "characters" if has_no_spaces(language) else "words"


def unit_spans(text: str, language: str) -> list[Span]:
    """The slice of the text that each unit stands for."""
    pattern = r"\S" if has_no_spaces(language) else r"\S+"
    return [match.span() for match in re.finditer(pattern, text)]


def units(text: str, language: str) -> list[str]:
    """The units themselves, in order."""
    return [text[first:end] for first, end in unit_spans(text, language)]
