"""The hand-made alignments, and the script that measures a checkpoint by them."""

import re
import runpy
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = runpy.run_path(str(DOCS / "alignment_error.py"))


@pytest.fixture(scope="module")
def gold():
    return SCRIPT["read_gold"](SCRIPT["GOLD"])


def test_every_link_is_between_words_of_the_sentence(gold):
    assert len(gold) == 20
    for source, target, links in gold:
        assert links.sure
        assert not links.sure & links.possible
        for left, right in links.sure | links.possible:
            assert left < len(source.split())
            assert right < len(target.split())


def test_every_word_that_looks_the_same_is_linked(gold):
    """A link that slipped by one would stand out here."""
    names = 0
    for source, target, links in gold:
        for left, word in enumerate(source.split()):
            for right, other in enumerate(target.split()):
                if word.strip(".,;:").lower() == other.strip(".,;:").lower() and len(word) > 4:
                    names += 1
                    assert (left, right) in links.sure | links.possible, (word, other)
    assert names > 5


@pytest.mark.slow
def test_the_sentences_are_those_of_the_test_split(gold):
    from latimer.config.data import BibleData
    from latimer.data.bible import read_bible

    data = BibleData.model_construct(source_language="enm", target_language="en")
    test = read_bible(data, "test")
    pairs = set(zip(test["source"], test["target"], strict=True))
    assert {(source, target) for source, target, _ in gold} <= pairs


def test_the_diagonal():
    assert SCRIPT["diagonal"]("a b c d", "x y") == [(1, 0), (3, 1)]
    assert SCRIPT["diagonal"]("a b", "w x y z") == [(0, 0), (0, 1), (1, 2), (1, 3)]


def test_a_table_of_all_layers(tiny_checkpoint, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["alignment_error.py", str(tiny_checkpoint)])
    runpy.run_path(str(DOCS / "alignment_error.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "20 sentences" in shown
    rates = re.findall(r"^([12]|diagonal) +(\d+\.\d)(?: +(\d+\.\d))?$", shown, re.MULTILINE)
    assert [name for name, *_ in rates] == ["1", "2", "diagonal"]
    assert all(0 <= float(rate) <= 100 for _, *both in rates for rate in both if rate)


def test_a_checkpoint_that_is_not_there(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["alignment_error.py", "nowhere.ckpt"])
    with pytest.raises(SystemExit, match=r"error: nowhere\.ckpt: there is no such checkpoint"):
        runpy.run_path(str(DOCS / "alignment_error.py"), run_name="__main__")
