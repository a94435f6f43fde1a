"""Parts of a test set are scored as sacrebleu scores them by themselves."""

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from latimer.errors import LatimerError
from latimer.scoring import PartScorer, has_no_spaces, paired_scores

REFERENCES = [
    "The red boat drifts past the old pier.",
    "Snow fell all night in the valley.",
    "A cat sat on the mat (again).",
]
HYPOTHESES = [
    "The red boat drifts past an old pier.",
    "Snow fell all day in the valley.",
    "A Cat sat on the mat, again.",
]


def test_a_group_is_scored_as_a_corpus():
    found = PartScorer(target_language="en").group(HYPOTHESES, REFERENCES, interval=True)
    theirs = BLEU().corpus_score(HYPOTHESES, [REFERENCES], n_bootstrap=1000)
    assert found.bleu.score == theirs.score
    assert PartScorer(target_language="en").bleu(HYPOTHESES, REFERENCES) == theirs.score
    assert found.bleu.confidence == (theirs._mean - theirs._ci, theirs._mean + theirs._ci)
    assert found.chrf == CHRF(word_order=2).corpus_score(HYPOTHESES, [REFERENCES]).score
    assert found.length_ratio == theirs.ratio
    assert found.matching_four_grams == theirs.counts[3] > 0


def test_lines_that_were_counted_before_are_scored_alike():
    scorer = PartScorer(target_language="en")
    scorer.sentences(HYPOTHESES, REFERENCES)
    first = scorer.group(HYPOTHESES[:2], REFERENCES[:2], interval=True)
    assert first.bleu.confidence is not None
    for rows in ([2, 0, 1], [1, 1, 0]):
        texts = [[side[row] for row in rows] for side in (HYPOTHESES, REFERENCES)]
        anew = PartScorer(target_language="en").group(*texts, interval=False)
        assert scorer.group(*texts, interval=False) == anew


@pytest.mark.parametrize(("bootstrap", "interval"), [(0, True), (1000, False)])
def test_without_resampling_there_is_no_interval(bootstrap, interval):
    scorer = PartScorer(target_language="en", bootstrap=bootstrap)
    assert scorer.group(HYPOTHESES, REFERENCES, interval=interval).bleu.confidence is None


def test_a_group_of_two_words_a_line_tells_that_bleu_says_little():
    # field case 110
    found = PartScorer(target_language="en").group(["Green lamp"], ["Green lamp"], interval=False)
    assert (found.bleu.score, found.chrf, found.matching_four_grams) == (0.0, 100.0, 0)


def test_the_interval_of_a_difference_is_that_of_the_paired_test():
    systems = [REFERENCES * 5, HYPOTHESES * 5]
    found = PartScorer(target_language="en").difference(*systems, REFERENCES * 5)
    bleu, _ = paired_scores(systems, REFERENCES * 5, target_language="en")
    assert found == bleu[1].difference.confidence
    assert found[0] < bleu[1].difference.score < found[1] < 0
    without = PartScorer(target_language="en", bootstrap=0)
    assert without.difference(*systems, REFERENCES * 5) is None


def test_case_and_tokenizer_reach_all_parts():
    cased = PartScorer(target_language="en")
    blind = PartScorer(target_language="en", lowercase=True, bleu_tokenizer="none")
    assert cased.sentences(["A Cat"], ["a cat"])[0] < 100
    assert blind.sentences(["A Cat"], ["a cat"]) == [100.0]
    assert cased.words(["A cat, again."]) == [["A", "cat", ",", "again", "."]]
    assert blind.words(["A cat, again."]) == [["a", "cat,", "again."]]
    texts = ["A CAT SAT ON THE MAT"], ["a cat sat on the mat"]
    assert cased.group(*texts, interval=False).bleu.score == 0
    assert blind.group(*texts, interval=False).bleu.score == 100
    assert blind.group(*texts, interval=False).chrf == 100


def test_words_follow_the_target_language():
    assert PartScorer(target_language="zh").words(["我有猫"]) == [["我", "有", "猫"]]
    assert has_no_spaces("zh-CN")
    assert has_no_spaces("jpn")
    assert not has_no_spaces("ko")


def test_counts_must_agree():
    # field case 107
    with pytest.raises(LatimerError, match="2 hypotheses cannot be scored against 1 references"):
        PartScorer(target_language="en").group(["a", "b"], ["a"], interval=False)
