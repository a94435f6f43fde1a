"""Search errors and greedy search beside a search, with hypotheses whose scores we choose."""

from dataclasses import replace

import pytest

from latimer.decoding import SearchSettings
from latimer.reports.greedy import compare_with_greedy
from latimer.reports.search_errors import TOO_LONG, TOO_SHORT, find_search_errors
from latimer.scoring import PartScorer
from latimer.translation import Translation

SETTINGS = SearchSettings(beam_size=2, max_length_offset=4)
SOURCES = ["the red boat", "a small blue door", "", "old house"]


def changed(translations, score=0.0, log_probability=0.0):
    """Other texts than these, of scores that are by so much larger."""
    return [
        replace(
            found,
            text="something else",
            hypotheses=tuple(
                replace(
                    each,
                    score=each.score + score,
                    log_probability=each.log_probability + log_probability,
                )
                for each in found.hypotheses
            ),
        )
        for found in translations
    ]


@pytest.mark.parametrize(
    ("changes", "lower_scores", "lower_log_probabilities"),
    [
        ({"score": 0.01, "log_probability": -1.0}, 0, 3),
        ({"score": -0.01, "log_probability": 1.0}, 3, 0),
        ({"score": 1e-6, "log_probability": -1e-6}, 0, 0),
    ],
)
def test_scores_and_log_probabilities_are_compared_with_those_of_greedy_search(
    make_translator, changes, lower_scores, lower_log_probabilities
):
    translator = make_translator(SETTINGS)
    greedy = make_translator(replace(SETTINGS, beam_size=1)).translations(SOURCES)
    for found in greedy:
        for each in found.hypotheses:
            assert each.score > each.log_probability + 0.1, "no test without a length penalty"
    scorer = PartScorer(target_language="en", bootstrap=0)
    found = changed(greedy, **changes)
    compared = compare_with_greedy(translator, SOURCES, SOURCES, found, scorer)
    assert (compared.lines, compared.different) == (3, 3)
    assert compared.lower_scores == lower_scores
    assert compared.lower_log_probabilities == lower_log_probabilities


def test_the_same_text_from_other_pieces_is_no_search_error(make_translator):
    translator, references = make_translator(SETTINGS), ["the sea", "a red door", "", "bird"]
    scores = translator.scores(SOURCES, references)
    assert scores[2] is None
    found = [
        Translation(text, (replace(score, score=score.score - 1),)) if score else Translation()
        for text, score in zip(references, scores, strict=True)
    ]
    alike = find_search_errors(translator, SOURCES, references, found)
    assert (alike.lines, alike.errors) == (3, ())
    assert alike.median_difference == pytest.approx(-1, abs=1e-4)
    others = find_search_errors(translator, SOURCES, references, changed(found))
    assert sorted(error.row for error in others.errors) == [0, 1, 3]
    for error in others.errors:
        assert error.reference - error.found == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(("more", "reason"), [(0, None), (1, TOO_SHORT), (-1, TOO_LONG)])
def test_a_reference_as_long_as_the_search_allows_could_be_found(make_translator, more, reason):
    pieces = len(make_translator().tokenizers.target.encode("the red boat")) + more
    settings = SearchSettings(
        beam_size=2, min_length=pieces, max_length_factor=0.0, max_length_offset=pieces
    )
    translator = make_translator(settings)
    found = translator.translations(["old house"])
    errors = find_search_errors(translator, ["old house"], ["the red boat"], found)
    assert errors.left_out == ({reason: 1} if reason else {})
    assert errors.lines == (0 if reason else 1)
