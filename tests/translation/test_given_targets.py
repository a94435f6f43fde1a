"""Translations that are given are scored as a search scores its own."""

import pytest

from latimer.decoding import SamplingSettings, SearchSettings
from latimer.errors import LatimerError
from latimer.translation import Translator

SETTINGS = SearchSettings(beam_size=2, max_length_offset=4)


@pytest.fixture(scope="module")
def make_translator(make_model, tiny_tokenizers):
    def make(settings=SETTINGS, max_tokens=2000, **hyperparameters):
        model = make_model(**hyperparameters)
        return Translator(model, tiny_tokenizers, settings, max_tokens=max_tokens)

    return make


@pytest.fixture(scope="module")
def pairs(make_sentences):
    """Sources and targets of different lengths, with blanks on either side and on both."""
    sources, targets = make_sentences(30, 6), make_sentences(30, 7)
    sources[4], targets[8], sources[12], targets[12] = " ", "", "", ""
    return sources, targets


@pytest.mark.parametrize("settings", [SETTINGS, SearchSettings(beam_size=2, coverage_penalty=0.3)])
def test_a_search_s_own_translation_gets_the_score_that_it_was_found_with(
    make_translator, make_sentences, settings
):
    # field case 102
    translator, lines = make_translator(settings), make_sentences(12, 8)
    found = translator.translations(lines)
    scores = translator.scores(lines, [translation.text for translation in found])
    same = 0
    for translation, score in zip(found, scores, strict=True):
        best = translation.hypotheses[0]
        if score.ids == best.ids:  # a text may be cut into other pieces than it was made of
            same += 1
            assert score.log_probability == pytest.approx(best.log_probability, abs=1e-4)
            assert score.score == pytest.approx(best.score, abs=1e-4)
    assert same > 3


def test_the_batch_has_no_influence(make_translator, pairs):
    # field case 97
    translator = make_translator()
    together = translator.scores(*pairs)
    assert len(together) == 30
    for narrow in (1, 60):
        again = make_translator(max_tokens=narrow).scores(*pairs)
        for one, other in zip(together, again, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                assert one.ids == other.ids
                assert one.score == pytest.approx(other.score, abs=1e-4)
    backwards = translator.scores(*(side[::-1] for side in pairs))[::-1]
    assert [s and s.ids for s in backwards] == [s and s.ids for s in together]


def test_a_blank_source_has_no_score_and_a_blank_target_has_one(make_translator, pairs):
    scores = make_translator().scores(*pairs)
    assert [row for row, score in enumerate(scores) if score is None] == [4, 12]
    assert scores[8].ids == ()
    assert scores[8].log_probability < 0
    assert make_translator().scores([], []) == []


def test_samples_have_their_log_probability_for_a_score(make_translator):
    [score] = make_translator(SamplingSettings()).scores(["a red boat"], ["the sea"])
    assert score.score == score.log_probability
    [penalised] = make_translator().scores(["a red boat"], ["the sea"])
    assert penalised.score > penalised.log_probability == pytest.approx(score.log_probability)


def test_a_target_beyond_the_learned_positions_has_no_score(make_translator):
    translator = make_translator(positions="learned", max_length=10)
    fits, beyond = translator.scores(["red"] * 2, ["red boat", "red boat sea bird " * 9])
    assert fits is not None
    assert beyond is None


def test_every_source_needs_a_target(make_translator):
    with pytest.raises(LatimerError, match="2 sources, but 1 targets; write one of each"):
        make_translator().scores(["a", "b"], ["a"])
