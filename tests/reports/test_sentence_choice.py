"""Which sentences are shown, and which of their words are marked."""

import re

import pytest

from latimer.reports.choice import most_different, worst_and_best
from latimer.reports.differences import mark_difference


def test_worst_and_best_by_score():
    scores = [float(n * 7 % 25) for n in range(25)]
    lines = ["a"] * 25
    worst, best = worst_and_best(lines, lines, scores)
    assert [scores[row] for row in worst] == [float(n) for n in range(10)]
    assert [scores[row] for row in best] == [float(n) for n in range(24, 14, -1)]


@pytest.mark.parametrize("count", range(5))
def test_no_line_is_shown_twice(count):
    worst, best = worst_and_best(["a"] * count, ["a"] * count, [50.0] * count)
    assert sorted(worst + best) == [*range(count)]


def test_blank_lines_are_not_ranked():
    worst, best = worst_and_best(["", "a", "a", " "], ["a", "a", " ", "a"], [0.0, 50.0, 0.0, 0.0])
    assert (worst, best) == ([1], [])


def test_of_perfect_translations_the_longest_come_first():
    references = ["a", "a b c", "a b", "z"]
    assert worst_and_best(references, references, [100.0, 100.0, 100.0, 1.0])[1] == [1, 2]


def test_both_directions_of_a_difference():
    assert most_different([10.0, 50.0, 30.0, 7.0], [20.0, 20.0, 90.0, 7.0]) == ([2, 0], [1])
    assert most_different([1.0] * 30, [2.0] * 30) == ([*range(10)], [])
    assert most_different([], []) == ([], [])


def test_words_that_differ_are_marked():
    marked = mark_difference("the old red boat sails", "the red boat sinks", "en")
    assert marked == "the <mark>old</mark> red boat <mark>sails</mark>"
    assert mark_difference("a b", "a b", "en") == "a b"
    assert mark_difference("x  y z", "a z", "en", "missing") == (
        '<mark class="missing">x  y</mark> z'
    )
    assert mark_difference("", "a", "en") == ""
    assert mark_difference("我有猫", "我有狗", "zh") == "我有<mark>猫</mark>"


def test_the_text_is_escaped_and_whole():
    text, other = ' <b>&amp; "x"  y</b>\u2028', "<b>&amp; z"
    marked = mark_difference(text, other, "en")
    assert "<b>" not in marked
    bare = re.sub("</?mark>", "", marked)
    for sign, name in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        bare = bare.replace(sign, name)
    assert bare == text
