"""Which words of a source the words of its translation attended to, for a few sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latimer.model import Transformer
from latimer.reports.units import unit_spans
from latimer.scoring import has_no_spaces
from latimer.tokenizer import Tokenizer
from latimer.translation import Translation, Translator
from latimer.translation.alignments import Aligner, PiecedText
from latimer.translation.ensembles import evaluating
from latimer.translation.words import membership

LONGEST = 30
"""Words on either side beyond which a picture is too large to be read."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class AlignmentView:
    """The cross-attention of one sentence.

    Attributes:
        title: why this one was chosen.
        row: of the test set, from 0.
        source: its words; its pieces, where no spaces set words apart.
        target: those of the translation.
        weights: (target, source), from 0 to 1: the mean over a target word's pieces of what they
            gather from all pieces of a source word, the mean of the heads of one decoder layer.
            What a row lacks to 1 goes to the end of the sentence.
        layer: the decoder layer, from 1.
    """

    title: str
    row: int
    source: tuple[str, ...]
    target: tuple[str, ...]
    weights: Matrix
    layer: int


def choose_rows(
    sources: Sequence[str],
    texts: Sequence[str],
    scores: Sequence[float],
    languages: tuple[str, str],
) -> dict[str, int]:
    """The best, two in the middle and the worst by score, among those that fit into a picture.

    Returns:
        The row of each by why it was chosen; fewer where there are fewer, and never one twice.
    """
    fitting = [
        row
        for row, sides in enumerate(zip(sources, texts, strict=True))
        if all(
            2 <= len(unit_spans(text, language)) <= LONGEST
            for text, language in zip(sides, languages, strict=True)
        )
    ]
    ranked = sorted(fitting, key=lambda row: (-scores[row], row))
    if not ranked:
        return {}
    middle = (len(ranked) - 1) // 2
    wanted = {"best": 0, "median": middle, "median, the next": middle + 1, "worst": -1}
    rows = {title: ranked[min(place, len(ranked) - 1)] for title, place in wanted.items()}
    first = {row: title for title, row in reversed(rows.items())}
    return {title: row for title, row in rows.items() if first[row] == title}


def view_alignments(
    translator: Translator,
    sources: Sequence[str],
    translations: Sequence[Translation],
    rows: dict[str, int],
    languages: tuple[str, str],
) -> list[AlignmentView] | None:
    """The attention of some rows' translations; None for an ensemble, which has several of them."""
    model, tokenizers = translator.model, translator.tokenizers
    if not isinstance(model, Transformer):
        return None
    aligner = Aligner(model)
    views = []
    for title, row in rows.items():
        best = translations[row].hypotheses[0]
        read = PiecedText.read(sources[row], tokenizers.source, translator.max_source_length)
        written = PiecedText.written(best.ids, tokenizers.target)
        with evaluating(model):
            [weights] = aligner.weights([(read, written)])
        reads, source = _belonging(read, tokenizers.source, languages[0])
        writes, target = _belonging(written, tokenizers.target, languages[1])
        of_words = (writes / np.maximum(writes.sum(axis=0), 1)).T @ weights @ reads
        views.append(AlignmentView(title, row, source, target, of_words, aligner.layer))
    return views


def _belonging(
    text: PiecedText, tokenizer: Tokenizer, language: str
) -> tuple[Matrix, tuple[str, ...]]:
    """Which piece belongs to which word, (pieces, words), and the words."""
    if has_no_spaces(language):
        spelled = tuple(tokenizer.piece(piece).replace("▁", " ") for piece in text.ids)
        return np.eye(len(spelled), dtype=np.float32), spelled
    return membership(text.text, text.spans), tuple(text.text.split())
