"""Translations that go on where a person has begun."""

import pytest

from latimer.decoding import SearchSettings
from latimer.errors import LatimerError
from latimer.translation import Translator

SETTINGS = SearchSettings(beam_size=3, max_length_offset=4, n_best=2)


@pytest.fixture(scope="module")
def translator(make_model, tiny_tokenizers):
    return Translator(make_model(), tiny_tokenizers, SETTINGS, max_tokens=300)


@pytest.fixture(scope="module")
def lines(make_sentences):
    lines = make_sentences(20, 13)
    lines[4] = ""
    return lines


def test_translations_begin_as_they_are_told(translator, lines):
    prefixes = ["the red boat", "", "a", "small old", "sea"] * 4
    found = translator.translations(lines, prefixes)
    free = translator.translations(lines)
    for row, (translation, prefix) in enumerate(zip(found, prefixes, strict=True)):
        if not prefix:
            assert translation == free[row]
        elif lines[row]:
            assert translation.text.startswith(prefix)
            pieces = tuple(translator.tokenizers.target.encode(prefix))
            assert all(h.ids[: len(pieces)] == pieces for h in translation.hypotheses)
    assert found[4].text == ""
    alone = [translator.translate([line], [p]) for line, p in zip(lines, prefixes, strict=True)]
    assert [text for [text] in alone] == translator.translate(lines, prefixes)


def test_a_prefix_that_cannot_be_written_is_named(translator, make_model, tiny_tokenizers):
    with pytest.raises(LatimerError, match="prefix 2: 'red Ж' has characters"):
        translator.translate(["red", "boat"], ["red", "red Ж"])
    with pytest.raises(LatimerError, match="2 lines, but 1 prefixes"):
        translator.translate(["red", "boat"], ["red"])
    model = make_model(positions="learned", max_length=8)
    short = Translator(model, tiny_tokenizers, SETTINGS, max_tokens=300)
    with pytest.raises(LatimerError, match=r"prefix 1: it has \d+ pieces, .* no more than 7"):
        short.translate(["red"], ["red boat " * 8])
    assert short.translate(["red"], ["red boat"])[0].startswith("red boat")
