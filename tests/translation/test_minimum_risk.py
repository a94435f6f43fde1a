"""Of several samples, the one that is most like all of them."""

import math

import numpy as np
import pytest

from latimer.decoding import Hypothesis, SamplingSettings
from latimer.errors import LatimerError
from latimer.scoring import SentenceMetric
from latimer.translation import MinimumRiskSettings, Translator
from latimer.translation.minimum_risk import minimum_risk

LIKENESS = {"ab": 50.0, "ac": 10.0, "bc": 60.0, "ad": 40.0, "bd": 40.0, "cd": 40.0}


def samples(texts):
    """A hypothesis for each text, the earlier one the less probable."""
    return [
        Hypothesis((number,), -9.0 + number, -9.0 + number, True)
        for number, _ in enumerate(texts, start=4)
    ]


def utility(texts):
    """Likeness by hand; the same in both directions, and 100 of a text with itself."""
    return np.array(
        [[100.0 if a == b else LIKENESS["".join(sorted(a + b))] for b in texts] for a in texts]
    )


def ranked(texts):
    """The texts best first, and their scores."""
    drawn = samples(texts)
    text_of = dict(zip(drawn, texts, strict=True))
    best = minimum_risk(drawn, texts, utility)
    by_ids = {h.ids: text for h, text in text_of.items()}
    return "".join(by_ids[h.ids] for h in best), [h.score for h in best]


def test_three_texts_by_hand():
    order, scores = ranked("abc")
    assert order == "bca"
    assert scores == pytest.approx([210 / 3, 170 / 3, 160 / 3])


def test_a_text_that_was_drawn_twice_counts_twice():
    order, scores = ranked("abca")
    assert order == "abc"  # (200 + 50 + 10) / 4 against (100 + 60 + 100) / 4: the earlier
    assert scores == pytest.approx([65, 65, 45])
    assert ranked("abcaa")[0] == "abc"
    assert ranked("abccc")[0] == "cba"


def test_duplicates_are_compared_once():
    seen = []

    def watched(texts):
        seen.append(list(texts))
        return utility(texts)

    texts = "abbbab"
    assert len(minimum_risk(samples(texts), texts, watched)) == 2
    assert seen == [["a", "b"]]


@pytest.mark.parametrize("texts", ["ad", "da", "bd", "abd", "adb"])
def test_of_equals_the_earlier_comes_first(texts):
    order, scores = ranked(texts)
    tied = [text for text, score in zip(order, scores, strict=True) if score == scores[0]]
    assert tied == sorted(tied, key=texts.index)
    assert ranked("ad")[1] == [70, 70]


def test_one_sample_is_its_own_best():
    [drawn] = samples("a")
    [best] = minimum_risk([drawn], ["a"], utility)
    assert (best.ids, best.log_probability, best.score) == (drawn.ids, drawn.log_probability, 100)


def test_one_text_of_several_pieces_is_one_candidate():
    # The same words from other pieces: the one drawn first stands for them.
    drawn = samples("aab")
    best = minimum_risk(drawn, ["a", "a", "b"], utility)
    assert [h.ids for h in best] == [(4,), (6,)]


@pytest.mark.parametrize("name", ["chrf", "bleu"])
def test_the_best_is_that_of_plain_loops(name, make_sentences):
    texts = make_sentences(12, 5)
    texts[7] = texts[2]
    metric = SentenceMetric(name, "en")
    mean = {
        text: math.fsum(metric.scores([text] * len(texts), texts)) / len(texts) for text in texts
    }
    best = minimum_risk(samples(texts), texts, metric.table)
    assert len(best) == 11
    assert [h.score for h in best] == pytest.approx(sorted(mean.values(), reverse=True))
    assert texts[best[0].ids[0] - 4] == max(mean, key=mean.get)


@pytest.fixture(scope="module")
def make_translator(make_model, tiny_tokenizers):
    def make(settings):
        return Translator(make_model(), tiny_tokenizers, settings, max_tokens=2000)

    return make


@pytest.fixture(scope="module")
def lines(make_sentences):
    return ["", *make_sentences(10, 4)]


def test_minimum_risk_of_one_sample_is_that_sample(make_translator, lines):
    one = make_translator(SamplingSettings(samples=1, max_length_offset=2))
    best = make_translator(MinimumRiskSettings(samples=1, max_length_offset=2))
    assert one.translate(lines) == best.translate(lines)


@pytest.mark.parametrize("name", ["chrf", "bleu"])
def test_a_translator_chooses_among_the_samples_that_it_draws(make_translator, lines, name):
    drawing = {"samples": 6, "temperature": 0.8, "max_length_offset": 2}
    drawn = make_translator(SamplingSettings(**drawing)).search(lines)
    translator = make_translator(MinimumRiskSettings(**drawing, utility=name))
    decode = translator.tokenizers.target.decode
    metric = SentenceMetric(name, "xx")
    for found, hypotheses in zip(translator.translations(lines), drawn, strict=True):
        texts = [decode(h.ids) for h in hypotheses]
        if texts:
            means = {text: sum(metric.scores([text] * 6, texts)) / 6 for text in texts}
            assert means[found.text] == pytest.approx(max(means.values()))
            assert found.hypotheses[0].score == pytest.approx(max(means.values()))
            assert {h.log_probability for h in found.hypotheses} <= {
                h.log_probability for h in hypotheses
            }
        else:
            assert found.text == ""


def test_the_batch_has_no_influence(make_translator, lines):
    # field case 97
    translator = make_translator(MinimumRiskSettings(samples=5, max_length_offset=2))
    together = translator.translate(lines)
    assert [translator.translate([line])[0] for line in lines] == together
    assert translator.translate(lines[::-1]) == together[::-1]


def test_an_unknown_utility_is_refused():
    with pytest.raises(LatimerError, match="utility: comet is none of chrf, bleu"):
        MinimumRiskSettings(utility="comet")
