"""Single sentences get sacrebleu's own scores, one by one and all against each other."""

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from latimer.errors import LatimerError
from latimer.scoring import SentenceMetric

TEXTS = [
    "The boat is red.",
    "The boat is blue.",
    "A red boat (old)!",
    "",
    "a",
    "Käse 🙂 …  doubled  spaces",
    "The boat is red. The boat is red.",
    "zzz",
]


@pytest.fixture(params=["chrf", "bleu"])
def metric(request):
    return SentenceMetric(request.param, "en")


def test_scores_are_those_of_sacrebleu():
    pairs = [(text, other) for text in TEXTS for other in TEXTS]
    hypotheses, references = zip(*pairs, strict=True)
    for name, theirs in (("chrf", CHRF(word_order=2)), ("bleu", BLEU(effective_order=True))):
        found = SentenceMetric(name, "en").scores(hypotheses, references)
        expected = [theirs.sentence_score(h, [r]).score for h, r in pairs]
        assert found == pytest.approx(expected, abs=1e-9)


def test_the_table_holds_the_scores_of_each_with_each(metric):
    table = metric.table(TEXTS)
    assert table.shape == (8, 8)
    for row, text in enumerate(TEXTS):
        assert table[row].tolist() == metric.scores([text] * 8, TEXTS)


def test_a_text_is_all_like_itself_and_not_like_a_stranger(metric):
    table = metric.table(["The boat is red.", "zzz"])
    assert table.diagonal().tolist() == [100.0, 100.0]
    assert table[0, 1] == table[1, 0] == pytest.approx(0, abs=1e-9)


def test_no_texts_and_one_text_have_a_table_too(metric):
    assert metric.table([]).shape == (0, 0)
    assert metric.table(["a"]).shape == (1, 1)


def test_bleu_finds_words_as_the_target_language_has_them():
    pair = ["我有一只红色的小船"], ["我有一只蓝色的小船"]
    [as_words] = SentenceMetric("bleu", "zh").scores(*pair)
    [as_one] = SentenceMetric("bleu", "en").scores(*pair)
    assert as_words > 40
    assert as_one == 0


def test_unequal_numbers_are_refused(metric):
    with pytest.raises(LatimerError, match="2 hypotheses cannot be scored against 1 references"):
        metric.scores(["a", "b"], ["a"])
