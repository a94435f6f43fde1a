"""From chunks of lines to answers."""

import pytest

from latimer.commands.work import Work
from latimer.decoding import SearchSettings
from latimer.translation import Translator
from latimer.translation.alignments import Aligner

LONG = "red boat sea bird " * 9


@pytest.fixture(scope="module")
def translator(make_model, tiny_tokenizers):
    """Of a model that has learned ten positions."""
    model = make_model(positions="learned", max_length=10)
    settings = SearchSettings(beam_size=3, n_best=3)
    return Translator(model, tiny_tokenizers, settings, max_tokens=500)


def test_lines_are_counted_through_all_chunks(translator):
    work = Work(translator, 1, None)
    answers = [one for some in work.answers([["red", ""], ["old door"], [LONG]]) for one in some]
    assert [answer.index for answer in answers] == [0, 1, 2, 3]
    assert [answer.source for answer in answers] == ["red", "", "old door", LONG]
    assert [len(answer.candidates) for answer in answers] == [1, 0, 1, 1]
    texts = translator.translate(["red", "", "old door", LONG])
    assert [answer.shown[0].text for answer in answers] == texts
    ended = sum(not one.hypothesis.finished for each in answers for one in each.candidates)
    assert work.counts["lines"] == 4
    assert (work.counts["blank"], work.counts["cut sources"]) == (1, 1)
    assert work.counts["ended by the length limit"] == ended


def test_of_a_cut_source_only_what_was_read_is_aligned(translator):
    work = Work(translator, 3, Aligner(translator.model))
    [[answer]] = work.answers([[LONG]])
    assert len(answer.candidates) == 3
    for candidate in answer.candidates:
        links = [tuple(map(int, link.split("-"))) for link in candidate.alignment.split()]
        assert [word for _, word in links] == list(range(len(candidate.text.split())))
        assert all(word < 9 for word, _ in links)


def test_nobody_asked_for_alignments(translator):
    [[answer]] = Work(translator, 2, None).answers([["red"]])
    assert [candidate.alignment for candidate in answer.candidates] == ["", ""]
