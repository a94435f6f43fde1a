"""How translations are written."""

import json

import pytest

from latimer.commands.answers import Answer, Candidate, Format
from latimer.decoding import Hypothesis

BEST = Hypothesis(ids=(5, 6), log_probability=-1.5, score=-0.75, finished=True)
SECOND = Hypothesis(ids=(5,), log_probability=-2.5, score=-1.25, finished=False)
CANDIDATES = [Candidate("red ||| boat", BEST, "0-0 2-2"), Candidate("Käse", SECOND, "1-0")]
ANSWER = Answer(7, "rotes ||| Boot", CANDIDATES)
BLANK = Answer(8, " ", [])


@pytest.mark.parametrize(
    ("written", "lines", "blank"),
    [
        (Format(), ["red ||| boat"], [""]),
        (Format(scores=True), ["-0.7500\tred ||| boat"], ["0.0000\t"]),
        (Format(all_candidates=True), ["7 ||| red ||| boat", "7 ||| Käse"], ["8 ||| "]),
        (
            Format(all_candidates=True, scores=True),
            ["7 ||| red ||| boat ||| -0.7500", "7 ||| Käse ||| -1.2500"],
            ["8 |||  ||| 0.0000"],
        ),
    ],
)
def test_text(written, lines, blank):
    assert written.lines(ANSWER) == lines
    assert written.lines(BLANK) == blank


def test_alignments_stand_in_as_many_lines_as_the_text():
    assert Format(alignments=True).lines_beside(ANSWER) == ["0-0 2-2"]
    many = Format(all_candidates=True, alignments=True)
    assert many.lines_beside(ANSWER) == ["0-0 2-2", "1-0"]
    assert many.lines_beside(BLANK) == [""]
    assert Format(json=True, all_candidates=True).lines_beside(ANSWER) == ["0-0 2-2"]


def record(answer, **written):
    [line] = Format(json=True, **written).lines(answer)
    return json.loads(line)


def test_json():  # field case 8: every row carries its number
    row = {"index": 7, "source": "rotes ||| Boot", "translation": "red ||| boat"}
    assert record(ANSWER) == row
    assert record(ANSWER, alignments=True) == {**row, "alignment": "0-0 2-2"}
    scored = {"score": -0.75, "log_probability": -1.5, "finished": True}
    assert record(ANSWER, scores=True) == {**row, **scored}
    listed = [{"translation": "red ||| boat"}, {"translation": "Käse"}]
    assert record(ANSWER, all_candidates=True) == {**row, "hypotheses": listed}


def test_json_is_written_in_utf8():
    [line] = Format(json=True, all_candidates=True).lines(ANSWER)
    assert "Käse" in line


def test_json_of_a_blank_line():
    row = {"index": 8, "source": " ", "translation": ""}
    certain = {"score": 0.0, "log_probability": 0.0, "finished": True, "alignment": ""}
    written = {"scores": True, "alignments": True, "all_candidates": True}
    assert record(BLANK, **written) == {**row, **certain, "hypotheses": []}
