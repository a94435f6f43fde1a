"""Which characters of a text a piece stands for."""

from itertools import pairwise

import pytest

from latimer.tokenizer import train_tokenizer

LINES = ["the red boat is here", "a blue door ½ old", "Käse ist gut fine ﬁne"] * 20


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(LINES, vocab_size=90)


@pytest.fixture(scope="module")
def with_bytes():
    return train_tokenizer(LINES, vocab_size=340, byte_fallback=True)


@pytest.mark.parametrize(
    "text",
    ["the red boat", "  the  red\u00a0boat ", "½ ﬁne Ж Käse", "a\u200bb c", "🙂 🙂", "Ж", "", " "],
)
@pytest.mark.parametrize("kind", ["tokenizer", "with_bytes"])
def test_slices_follow_one_another_and_leave_no_character_out(request, kind, text):
    tokenizer = request.getfixturevalue(kind)
    spans = tokenizer.spans(text)
    assert len(spans) == len(tokenizer.encode(text))
    assert "".join(text[first:end] for first, end in spans).split() == text.split()
    assert all(a[1] == b[0] for a, b in pairwise(spans))


def test_a_character_that_normalisation_rewrites_is_that_of_the_line(tokenizer):
    text = "½ ﬁne"
    assert [text[first:end] for first, end in tokenizer.spans(text)] == ["½", " ﬁne"]
    decoded = tokenizer.decode(tokenizer.encode(text))
    assert decoded == "1⁄2 fine"
    spans = tokenizer.decoded_spans(tokenizer.encode(text))
    assert [decoded[first:end] for first, end in spans] == ["1⁄2", " fine"]


def test_the_last_byte_of_a_character_stands_for_it(with_bytes):
    text = "red Ж"
    assert [text[first:end] for first, end in with_bytes.spans(text)] == ["red", " ", "", "Ж"]


def test_bytes_that_are_no_character_have_their_place_in_the_text(with_bytes):
    ids = {with_bytes.piece(number): number for number in range(with_bytes.vocab_size)}
    broken = [ids[piece] for piece in ("<0xD0>", "<0x0A>", "▁the", "<0xE2>", "▁red")]
    text = with_bytes.decode(broken)
    spans = with_bytes.decoded_spans(broken)
    assert [text[first:end] for first, end in spans] == ["\ufffd", " ", " the", "\ufffd", " red"]
