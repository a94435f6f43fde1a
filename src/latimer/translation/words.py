"""Words of a text, as whitespace cuts them, and the pieces that they consist of."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from latimer.tokenizer import Span

# What str.split() cuts out, wherever it runs.
WORD = re.compile(r"\S+")


def membership(text: str, pieces: Sequence[Span]) -> NDArray[np.float32]:
    """Which piece belongs to which word: (pieces, words), 1 where it does and 0 elsewhere.

    A piece belongs to every word that it has a character of. One without any, such as a lone space,
    begins the next word.

    Args:
        text: one line.
        pieces: the slice of the text that each piece stands for.
    """
    words = [match.span() for match in WORD.finditer(text)]
    belongs = np.zeros((len(pieces), len(words)), dtype=np.float32)
    for number, piece in enumerate(pieces):
        belongs[number, _words_of(piece, words)] = 1
    return belongs


def _words_of(piece: Span, words: Sequence[Span]) -> list[int]:
    first, end = piece
    shared = [n for n, (start, stop) in enumerate(words) if start < end and first < stop]
    return shared or [n for n, (_, stop) in enumerate(words) if first < stop][:1]
