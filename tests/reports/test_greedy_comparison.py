"""Greedy search beside the search that was asked for."""

import pytest
from sacrebleu.metrics.bleu import BLEU

from latimer.decoding import SamplingSettings, SearchSettings
from latimer.reports.greedy import compare_with_greedy
from latimer.scoring import PartScorer

SCORER = PartScorer(target_language="en")
WIDE = SearchSettings(beam_size=4, n_best=4, max_length_offset=4)
DIVERSE = SearchSettings(beam_size=4, beam_groups=2, diversity_penalty=0.5, max_length_offset=4)


@pytest.fixture(scope="module")
def pairs(make_sentences):
    sources, references = make_sentences(25, 31), make_sentences(25, 32)
    sources[3] = " "
    return sources, references


@pytest.mark.parametrize("settings", [WIDE, DIVERSE], ids=["beam", "groups"])
def test_it_compares_with_beam_1(make_translator, pairs, settings):
    translator = make_translator(settings)
    greedy = make_translator(SearchSettings(beam_size=1, max_length_offset=4))
    found, plain = translator.translations(pairs[0]), greedy.translations(pairs[0])
    compared = compare_with_greedy(translator, *pairs, found, SCORER)
    assert compared.lines == 24
    different = [a.text != b.text for a, b in zip(found, plain, strict=True)]
    assert 0 < compared.different == sum(different) < 24
    for bleu, system in zip(compared.bleu, (plain, found), strict=True):
        texts = [translation.text for translation in system]
        assert bleu == pytest.approx(BLEU(force=True).corpus_score(texts, [pairs[1]]).score)
    low, high = compared.interval
    assert low < compared.bleu[1] - compared.bleu[0] < high


def test_what_greedy_search_found_better_is_counted(make_translator, pairs):
    translator, greedy = make_translator(WIDE), make_translator(SearchSettings(beam_size=1))
    worse = make_translator(SamplingSettings(temperature=2.0)).translations(pairs[0])
    best = greedy.translations(pairs[0])
    compared = compare_with_greedy(translator, *pairs, worse, SCORER)
    # A sample's score is its log-probability.
    both = [(a.hypotheses[0], b.hypotheses[0]) for a, b in zip(worse, best, strict=True) if a.text]
    lower = sum(a.log_probability < b.log_probability for a, b in both)
    assert 12 < compared.lower_log_probabilities == lower
    assert compared.lower_scores >= lower


def test_a_wider_search_is_never_far_below(make_translator, pairs):
    translator = make_translator(SearchSettings(beam_size=12, max_length_offset=4))
    compared = compare_with_greedy(translator, *pairs, translator.translations(pairs[0]), SCORER)
    assert compared.lower_scores <= 2


def test_without_resampling_there_are_no_tests(make_translator, pairs):
    translator = make_translator(WIDE)
    scorer = PartScorer(target_language="en", bootstrap=0)
    compared = compare_with_greedy(translator, *pairs, translator.translations(pairs[0]), scorer)
    assert compared.interval is None
    assert compared.bleu[1] >= 0


@pytest.mark.parametrize(
    "settings", [SearchSettings(beam_size=1), SamplingSettings()], ids=["greedy", "sampling"]
)
def test_there_is_no_comparison_of_greedy_with_greedy_or_of_samples(make_translator, settings):
    assert compare_with_greedy(make_translator(settings), [], [], [], SCORER) is None
