"""Views of cross-attention: the words of the aligner, with weights that it takes the largest of."""

import numpy as np
import pytest

from latimer.decoding import Ensemble
from latimer.reports.alignment import choose_rows, view_alignments
from latimer.translation.alignments import Aligner, PiecedText

LANGUAGES = ("en", "en")


def test_the_best_the_worst_and_the_middle():
    lines = ["a b"] * 7
    scores = [3.0, 9.0, 1.0, 5.0, 7.0, 2.0, 6.0]
    assert choose_rows(lines, lines, scores, LANGUAGES) == {
        "best": 1,
        "median": 3,
        "median, the next": 0,
        "worst": 2,
    }


def test_only_what_can_be_drawn_is_chosen_and_nothing_twice():
    lines = ["a", "", "a b", "a " * 31]
    assert choose_rows(lines, lines, [1.0] * 4, LANGUAGES) == {"best": 2}
    assert choose_rows([], [], [], LANGUAGES) == {}
    two = ["a b", "c d"]
    assert choose_rows(two, two, [1.0, 2.0], LANGUAGES) == {"best": 1, "median, the next": 0}


@pytest.fixture(scope="module")
def views(make_translator, make_sentences):
    translator, sources = make_translator(), make_sentences(12, 8)
    found = translator.translations(sources)
    rows = choose_rows(sources, [t.text for t in found], [float(n) for n in range(12)], LANGUAGES)
    return translator, sources, found, view_alignments(translator, sources, found, rows, LANGUAGES)


def test_the_largest_cell_is_the_aligner_s_link(views):
    translator, sources, found, drawn = views
    assert len(drawn) > 2
    tokenizer = translator.tokenizers.target
    for view in drawn:
        assert view.source == tuple(sources[view.row].split())
        assert view.target == tuple(found[view.row].text.split())
        assert view.weights.shape == (len(view.target), len(view.source))
        assert view.weights.min() >= 0
        assert view.weights.sum(axis=1).max() <= 1 + 1e-5
        pair = (
            PiecedText.read(sources[view.row], tokenizer),
            PiecedText.written(found[view.row].hypotheses[0].ids, tokenizer),
        )
        [links] = Aligner(translator.model).align([pair])
        assert view.layer == Aligner(translator.model).layer
        assert [source for source, _ in links] == view.weights.argmax(axis=1).tolist()


def test_without_spaces_pieces_stand_for_words(views):
    translator, sources, found, drawn = views
    view = drawn[0]
    [pieces] = view_alignments(translator, sources, found, {"best": view.row}, ("zh", "ja"))
    ids = translator.tokenizers.source.encode(sources[view.row])
    assert len(pieces.source) == len(ids)
    assert pieces.weights.shape == (len(found[view.row].hypotheses[0].ids), len(ids))
    assert "".join(pieces.source).split() == sources[view.row].split()
    np.testing.assert_array_less(pieces.weights.sum(axis=1), 1 + 1e-5)


def test_an_ensemble_has_no_attention_of_its_own(make_translator):
    translator = make_translator()
    translator.model = Ensemble([translator.model, translator.model])
    assert view_alignments(translator, [], [], {}, LANGUAGES) is None
