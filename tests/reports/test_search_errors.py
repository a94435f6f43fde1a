"""Search errors that are known beforehand: references that a better search has found."""

from dataclasses import replace

import pytest

from latimer.decoding import SamplingSettings, SearchSettings
from latimer.reports import search_errors
from latimer.reports.search_errors import find_search_errors, is_lower
from latimer.translation import MinimumRiskSettings, Translation

GREEDY = SearchSettings(beam_size=1, max_length_offset=4)
WIDE = SearchSettings(beam_size=12, max_length_offset=4)


@pytest.fixture(scope="module")
def sources(make_sentences):
    return make_sentences(25, 31)


def test_what_a_wider_search_has_found_is_what_greedy_search_has_missed(make_translator, sources):
    greedy, wide = (make_translator(settings) for settings in (GREEDY, WIDE))
    found, better = greedy.translations(sources), wide.translations(sources)
    references = [translation.text for translation in better]
    again = wide.scores(sources, references)
    # A text may be cut into other pieces than it was made of, which score differently.
    scores = [score.score for score in again]
    expected = [
        row
        for row, (old, new) in enumerate(zip(found, scores, strict=True))
        if is_lower(old.hypotheses[0].score, new) and old.text != references[row]
    ]
    assert 3 < len(expected) < 25, "no test if all or none is missed"
    errors = find_search_errors(greedy, sources, references, found)
    assert errors.lines == 25
    assert errors.left_out == {}
    assert sorted(error.row for error in errors.errors) == expected
    gaps = [error.reference - error.found for error in errors.errors]
    assert gaps == sorted(gaps, reverse=True)
    for error in errors.errors:
        assert error.found == found[error.row].hypotheses[0].score
        assert error.reference == pytest.approx(scores[error.row], abs=1e-4)


def test_a_search_does_not_miss_its_own_translations(make_translator, sources):
    translator = make_translator(GREEDY)
    found = translator.translations(sources)
    errors = find_search_errors(translator, sources, [each.text for each in found], found)
    assert errors.errors == ()


def lowered(translations, by):
    """The translations as if their search had found something with a score less by so much."""
    return [
        replace(
            t, text="", hypotheses=(replace(t.hypotheses[0], score=t.hypotheses[0].score - by),)
        )
        for t in translations
    ]


@pytest.mark.parametrize(("by", "expected"), [(1e-5, 0), (0.5, 25)])
def test_rounding_is_no_search_error(make_translator, sources, by, expected):
    translator = make_translator(WIDE)
    references = make_translator(WIDE).translate(sources)
    scores = translator.scores(sources, references)
    exact = [Translation("", (score,)) for score in scores]
    errors = find_search_errors(translator, sources, references, lowered(exact, by))
    assert len(errors.errors) == expected
    assert errors.median_difference == pytest.approx(-by, abs=1e-4)


def test_what_the_search_could_not_have_found_is_counted_apart(make_translator):
    settings = SearchSettings(
        beam_size=2, max_length_factor=1.0, max_length_offset=3, min_length=2, no_repeat_ngram=2
    )
    translator = make_translator(settings)
    references = {
        "the red boat": None,
        "the boat " * 9: search_errors.TOO_LONG,
        "": search_errors.TOO_SHORT,
        "the Ж": search_errors.UNKNOWN,
        "the sea the sea": search_errors.REPEATED,
    }
    sources = ["the red old sea"] * len(references)
    found = translator.translations([*sources, " "])
    errors = find_search_errors(translator, [*sources, " "], [*references, "the"], found)
    assert errors.lines == 1
    reasons = [reason for reason in references.values() if reason]
    assert errors.left_out == dict.fromkeys([*reasons, search_errors.BLANK], 1)


def test_of_references_beyond_the_learned_positions_none_is_counted(make_translator):
    translator = make_translator(positions="learned", max_length=10)
    sources = ["the sea"] * 2
    found = translator.translations(sources)
    errors = find_search_errors(translator, sources, ["the boat " * 9, "the boat"], found)
    assert (errors.lines, errors.left_out) == (1, {search_errors.TOO_LONG: 1})


def test_blank_lines_alone_have_no_median(make_translator):
    translator = make_translator()
    errors = find_search_errors(
        translator, ["", " "], ["the", ""], translator.translations(["", ""])
    )
    assert errors == search_errors.SearchErrors(0, {search_errors.BLANK: 2}, (), None)


@pytest.mark.parametrize("settings", [SamplingSettings(), MinimumRiskSettings(samples=2)])
def test_samples_have_no_search_errors(make_translator, settings):
    translator = make_translator(settings)
    found = translator.translations(["the sea"])
    assert find_search_errors(translator, ["the sea"], ["the boat"], found) is None


def test_the_tolerance_grows_with_the_scores():
    assert not is_lower(-1000.05, -1000.0)
    assert is_lower(-1000.5, -1000.0)
    assert not is_lower(-1.0, -1.0)
    assert is_lower(-0.3, -0.29)
    assert not is_lower(-0.29, -0.3)
