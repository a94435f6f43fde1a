from itertools import count, islice

import pytest

from latimer.decoding import SearchSettings
from latimer.translation import Translation, Translator
from latimer.translation.stream import in_chunks


class Counted:
    """Lines without end, and how many of them were asked for."""

    def __init__(self):
        self.asked = 0

    def __iter__(self):
        for number in count():
            self.asked += 1
            yield f"the red boat {number % 7}"


@pytest.fixture(scope="module")
def translator(make_model, tiny_tokenizers):
    settings = SearchSettings(beam_size=2, max_length_offset=4)
    return Translator(make_model(), tiny_tokenizers, settings, max_tokens=2000)


@pytest.fixture(scope="module")
def lines(make_sentences):
    lines = make_sentences(40, 31)
    lines[3] = lines[17] = ""
    return lines


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_the_chunk_has_no_influence(translator, lines, chunk):  # field case 6
    assert list(translator.translate_lines(iter(lines), chunk)) == translator.translate(lines)


def test_no_more_than_a_chunk_is_read_ahead(translator):
    lines = Counted()
    texts = translator.translate_lines(lines, 5)
    assert lines.asked == 0
    list(islice(texts, 5))
    assert lines.asked == 5
    next(texts)
    assert lines.asked == 10


class Line(str):
    """Text that is counted while it lives."""

    living = most = 0

    def __new__(cls, text):
        Line.living += 1
        Line.most = max(Line.most, Line.living)
        return super().__new__(cls, text)

    def __del__(self):
        Line.living -= 1


@pytest.mark.parametrize("chunk", [10, 100])
def test_no_more_lines_are_held_than_a_chunk_and_the_one_before(translator, monkeypatch, chunk):
    monkeypatch.setattr(
        translator, "translations", lambda lines, prefixes: [Translation(Line("x")) for _ in lines]
    )
    monkeypatch.setattr(Line, "most", 0)
    lines = (Line(f"{number}") for number in range(5000))
    assert sum(1 for _ in translator.translate_lines(lines, chunk)) == 5000
    # Of each line of a chunk: itself and its translation.
    assert chunk <= Line.most <= 2 * 2 * chunk
    assert Line.living == 0


def test_an_open_file_gives_what_a_list_gives(translator, lines, tmp_path):  # field case 34
    path = tmp_path / "lines.txt"
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    with path.open(encoding="utf-8", newline="") as file:
        assert list(translator.translate_lines(file)) == translator.translate(lines)


def test_line_ends_are_no_text_even_without_normalisation(make_model, lines):
    from latimer.tokenizer import Tokenizers, train_tokenizer

    tokenizer = train_tokenizer(lines, vocab_size=50, normalization="identity")
    model = make_model(**Tokenizers.joint(tokenizer).vocab_sizes)
    settings = SearchSettings(beam_size=1, max_length_offset=4)
    translator = Translator(model, Tokenizers.joint(tokenizer), settings, max_tokens=2000)
    ended = [f"{line}\n" for line in lines[:9]]
    assert list(translator.translate_lines(ended)) == translator.translate(lines[:9])


def test_chunks():
    assert list(in_chunks("abcde", 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(in_chunks("", 2)) == []
    with pytest.raises(ValueError, match="at least one line, not 0"):
        list(in_chunks("abc", 0))
