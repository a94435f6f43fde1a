import pytest

from latimer.scoring.alignment_error import GoldAlignment, alignment_error_rate

GOLD = GoldAlignment(sure={(0, 0), (1, 1)}, possible={(2, 1)})


def test_the_error_rate_by_hand():
    # A = 3 links, |A ∩ S| = 1, |A ∩ P| = 2, |S| = 2: 1 - (1 + 2) / (3 + 2)
    assert alignment_error_rate([GOLD], [{(0, 0), (2, 1), (0, 2)}]) == pytest.approx(0.4)


def test_sure_links_must_be_found_and_possible_ones_may_be():
    assert alignment_error_rate([GOLD], [{(0, 0), (1, 1)}]) == 0
    assert alignment_error_rate([GOLD], [{(0, 0), (1, 1), (2, 1)}]) == 0
    # A = S without one: 1 - (1 + 1) / (1 + 2)
    assert alignment_error_rate([GOLD], [{(0, 0)}]) == pytest.approx(1 / 3)
    assert alignment_error_rate([GOLD], [set()]) == 1
    assert alignment_error_rate([GOLD], [{(1, 0)}]) == 1


def test_the_corpus_counts_and_not_the_mean_of_its_sentences():
    other = GoldAlignment(sure={(n, n) for n in range(8)})
    found = [set(), {(n, n) for n in range(8)}]
    # 1 - (8 + 8) / (8 + 2 + 8)
    assert alignment_error_rate([GOLD, other], found) == pytest.approx(1 / 9)


def test_no_sentence_is_left_out():
    with pytest.raises(ValueError, match="shorter"):
        alignment_error_rate([GOLD, GOLD], [set()])
    with pytest.raises(ValueError, match="neither sure nor found"):
        alignment_error_rate([], [])
