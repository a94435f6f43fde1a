"""Each kind of line to know about, by hand: nothing is counted twice or that is not there."""

import pytest

from latimer.decoding import Hypothesis
from latimer.evaluation.counts import count_lines
from latimer.translation import Translation

OWN_END = Hypothesis(ids=(5,), log_probability=-1.0, score=-1.0, finished=True)
CUT_OFF = Hypothesis(ids=(5,), log_probability=-1.0, score=-1.0, finished=False)
NONE = {
    "blank_sources": 0,
    "empty_translations": 0,
    "ended_by_the_length_limit": 0,
    "copies_of_the_source": 0,
    "repetitions": 0,
    "translations_with_unknown_marks": 0,
    "cut_sources": 0,
}
LINES = {
    "nothing": ("the sea", Translation("la mer", (OWN_END,)), {}),
    "blank": (" \t", Translation(), {"blank_sources": 1}),
    "empty": ("the sea", Translation("", (OWN_END,)), {"empty_translations": 1}),
    "spaces alone": ("the sea", Translation(" ", (OWN_END,)), {"empty_translations": 1}),
    "the limit": ("the sea", Translation("la", (CUT_OFF,)), {"ended_by_the_length_limit": 1}),
    "the limit of a second one": ("the sea", Translation("la mer", (OWN_END, CUT_OFF)), {}),
    "a copy": (" the sea\n", Translation("the sea", (OWN_END,)), {"copies_of_the_source": 1}),
    "a copy but for case": ("the sea", Translation("The sea", (OWN_END,)), {}),
    "a cut source": ("the sea", Translation("la mer", (OWN_END,), cut=True), {"cut_sources": 1}),
    "a loop up to the limit": (
        "the sea",
        Translation("la la la", (CUT_OFF,)),
        {"ended_by_the_length_limit": 1, "repetitions": 1},
    ),
}


@pytest.mark.parametrize(("source", "translation", "expected"), LINES.values(), ids=LINES)
def test_a_line_by_itself(source, translation, expected):
    assert count_lines([source], ["la mer"], [translation]) == {**NONE, **expected}


def test_all_lines_together():
    sources, translations, each = zip(*LINES.values(), strict=True)
    found = count_lines(sources, ["la mer"] * len(LINES), translations)
    assert found == {kind: sum(one.get(kind, 0) for one in each) for kind in NONE}
