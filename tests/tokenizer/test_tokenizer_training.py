import pytest

from latimer.errors import LatimerError
from latimer.tokenizer import UNK_ID, train_tokenizer

KINDS = ["bpe", "unigram"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_text_gives_the_same_bytes(toy_lines: list[str], kind: str):
    first, second = (train_tokenizer(toy_lines, vocab_size=40, model_type=kind) for _ in range(2))
    assert first.model_bytes == second.model_bytes
    assert first.vocab_size == 40


def test_the_kinds_differ(toy_lines: list[str]):
    first, second = (train_tokenizer(toy_lines, vocab_size=40, model_type=kind) for kind in KINDS)
    assert first != second


@pytest.mark.parametrize("kind", KINDS)
def test_too_many_pieces(toy_lines: list[str], kind: str):  # field case 25
    with pytest.raises(
        LatimerError, match=r"tokenizer\.vocab_size=8000: .*write (\d+) or less"
    ) as caught:
        train_tokenizer(toy_lines, vocab_size=8000, model_type=kind)
    limit = int(str(caught.value).split("write ")[1].split()[0])
    assert train_tokenizer(toy_lines, vocab_size=limit, model_type=kind).vocab_size == limit
    with pytest.raises(LatimerError):
        train_tokenizer(toy_lines, vocab_size=limit + 1, model_type=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_too_few_pieces(toy_lines: list[str], kind: str):  # field case 26
    # the special pieces, the mark of a space and the letters
    needed = 4 + 1 + len(set("".join(toy_lines)) - {" "})
    with pytest.raises(LatimerError, match=rf"=10: .* {needed}; .*tokenizer\.character_coverage"):
        train_tokenizer(toy_lines, vocab_size=10, model_type=kind)
    assert train_tokenizer(toy_lines, vocab_size=needed + 1, model_type=kind)


@pytest.mark.parametrize("lines", [[], ["", " "]])
def test_no_text(lines: list[str]):
    with pytest.raises(LatimerError, match="no text"):
        train_tokenizer(lines, vocab_size=100)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("long_line", ["zq " * 4_000, "zq" * 6_000])
def test_a_long_line_is_learnt_from(
    toy_lines: list[str], kind: str, long_line: str
):  # field case 32
    tokenizer = train_tokenizer([*toy_lines, long_line], vocab_size=40, model_type=kind)
    assert UNK_ID not in tokenizer.encode("zq")


def test_coverage_leaves_rare_characters_unknown(toy_lines: list[str]):
    lines = [*toy_lines, "Ж"]
    assert UNK_ID not in train_tokenizer(lines, vocab_size=60).encode("Ж")
    assert UNK_ID in train_tokenizer(lines, vocab_size=60, character_coverage=0.999).encode("Ж")


def test_training_says_nothing(toy_lines: list[str], capfd: pytest.CaptureFixture[str]):
    train_tokenizer(toy_lines, vocab_size=60)
    assert capfd.readouterr() == ("", "")
