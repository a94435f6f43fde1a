"""Merges are left out at random, and the text stays the same (field cases 29 to 31)."""

import io
import pickle
import random
import subprocess
import sys
from collections import Counter
from random import Random

import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from latimer.tokenizer import UNK_ID, BpeDropout, Tokenizer, train_tokenizer
from latimer.tokenizer.ids import BOS_ID, EOS_ID, PAD_ID


def cut(tokenizer: Tokenizer, text: str, probability: float, seed: int = 1) -> list[int]:
    return BpeDropout(tokenizer, probability).cut(tokenizer.encode(text), Random(seed))


def pieces(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    return [tokenizer.piece(one) for one in ids]


@pytest.fixture(scope="module")
def words() -> list[str]:
    """1,000 words of a few syllables."""
    dice = random.Random(1)
    syllables = ["ba", "ko", "tri", "un", "shel", "war", "gen", "ly", "st"]
    return ["".join(dice.choices(syllables, k=dice.randint(1, 4))) for _ in range(1000)]


@pytest.fixture(scope="module")
def of_words(words: list[str]) -> Tokenizer:
    return train_tokenizer(words, vocab_size=120)


def test_with_zero_nothing_changes(of_words: Tokenizer, words: list[str]):
    assert all(cut(of_words, word, 0.0) == of_words.encode(word) for word in words)
    assert cut(of_words, " ".join(words), 0.0) == of_words.encode(" ".join(words))


@pytest.mark.parametrize("probability", [0.1, 0.5])
def test_some_of_many_words_are_cut_otherwise(
    of_words: Tokenizer, words: list[str], probability: float
):
    dropout, dice = BpeDropout(of_words, probability), Random(1)
    plain = of_words.encode_batch(words)
    sampled = [dropout.cut(ids, dice) for ids in plain]
    changed = sum(one != other for one, other in zip(plain, sampled, strict=True))
    assert 1 <= changed < len(words)
    assert [of_words.decode(ids) for ids in sampled] == words


def test_with_one_words_are_characters(of_words: Tokenizer, words: list[str]):
    for word in words[:50]:
        assert pieces(of_words, cut(of_words, word, 1.0)) == ["▁", *word]


def test_each_merge_is_left_out_with_the_probability():
    """A word of one merge stays whole in 70 of 100 cases; the standard deviation is 1.1 of 100."""
    tokenizer = train_tokenizer(["ab"] * 20, vocab_size=8)
    dropout, ids, dice = BpeDropout(tokenizer, 0.3), tokenizer.encode("ab"), Random(1)
    seen = Counter(" ".join(pieces(tokenizer, dropout.cut(ids, dice))) for _ in range(1600))
    assert set(seen) == {"▁ ab", "▁ a b"}
    assert seen["▁ ab"] / 1600 == pytest.approx(0.7, abs=0.05)


def test_a_merge_that_was_left_out_may_be_done_after_another():
    """Algorithm 1 draws anew at each step; the merges are ab, the better one, and cd."""
    tokenizer = train_tokenizer(["vab wcd xab ycd zab"] * 20, vocab_size=16)
    dropout, ids, dice = BpeDropout(tokenizer, 0.5), tokenizer.encode("abcd"), Random(1)
    seen = Counter(" ".join(pieces(tokenizer, dropout.cut(ids, dice))) for _ in range(3200))
    shares = {cut: number / 3200 for cut, number in seen.items()}
    expected = {"▁ ab cd": 0.375, "▁ ab c d": 0.25, "▁ a b cd": 0.125, "▁ a b c d": 0.25}
    assert shares == pytest.approx(expected, abs=0.03)


def test_a_seed_decides(tokenizer: Tokenizer, toy_lines: list[str]):
    text = " ".join(toy_lines[:9])
    assert cut(tokenizer, text, 0.3) == cut(tokenizer, text, 0.3)
    assert cut(tokenizer, text, 0.3) != cut(tokenizer, text, 0.3, seed=2)


def test_in_any_process(tokenizer: Tokenizer, toy_lines: list[str]):
    """What SentencePiece samples itself is different in each process, whatever its seed."""
    program = (
        "import pickle, sys; from random import Random;"
        "dropout, ids = pickle.load(sys.stdin.buffer);"
        "print(dropout.cut(ids, Random('1 2 3')))"
    )
    dropout, ids = BpeDropout(tokenizer, 0.3), tokenizer.encode(" ".join(toy_lines[:9]))
    said = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps((dropout, ids)),
        capture_output=True,
        check=True,
    ).stdout
    assert said.decode().strip() == str(dropout.cut(ids, Random("1 2 3")))


def test_an_unknown_piece_stays_and_the_words_around_it_are_cut(tokenizer: Tokenizer):
    ids = cut(tokenizer, "kettle Ж boat", 1.0)
    assert ids.count(UNK_ID) == 1
    before, after = ids[: ids.index(UNK_ID)], ids[ids.index(UNK_ID) + 1 :]
    assert pieces(tokenizer, before) == [*"▁kettle", "▁"]
    assert pieces(tokenizer, after) == [*"▁boat"]


def test_bytes_stay(toy_lines: list[str]):
    tokenizer = train_tokenizer(toy_lines, vocab_size=330, byte_fallback=True)
    ids = cut(tokenizer, "red Ж kettle", 1.0)
    assert tokenizer.decode(ids) == "red Ж kettle"
    spelled = [piece for piece in pieces(tokenizer, ids) if piece.startswith("<0x")]
    assert spelled == ["<0xD0>", "<0x96>"]
    assert len(ids) == len("▁red▁") + 2 + len("▁kettle")


@pytest.mark.parametrize(
    "settings",
    [
        {"split_by_whitespace": False},
        {"treat_whitespace_as_suffix": True},
        {"user_defined_symbols": ["boat", "<x>"]},
        {"remove_extra_whitespaces": False},
        {"add_dummy_prefix": False},
    ],
    ids=str,
)
def test_models_of_every_kind_keep_their_text(toy_lines: list[str], settings: dict):
    """As a file may hold (tokenizer.file)."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(toy_lines),
        model_writer=model,
        model_type="bpe",
        vocab_size=80,
        minloglevel=2,
        pad_id=PAD_ID,
        unk_id=UNK_ID,
        bos_id=BOS_ID,
        eos_id=EOS_ID,
        **settings,
    )
    tokenizer = Tokenizer(model.getvalue())
    for line in [*toy_lines[:30], "a  boat <x>kettle", ""]:
        plain = tokenizer.encode(line)
        assert BpeDropout(tokenizer, 0.0).cut(plain, Random(1)) == plain
        for probability in (0.3, 1.0):
            sampled = cut(tokenizer, line, probability)
            assert tokenizer.decode(sampled) == tokenizer.decode(plain)
            assert len(sampled) >= len(plain)


def without(tokenizer: Tokenizer, text: str, renamed: str | None) -> Tokenizer:
    """With a piece of another name, or one that is marked as unused."""
    model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model_bytes)
    (piece,) = (one for one in model.pieces if one.piece == text)
    if renamed:
        piece.piece = renamed
    else:
        piece.type = sentencepiece_model_pb2.ModelProto.SentencePiece.UNUSED
    return Tokenizer(model.SerializeToString())


@pytest.mark.parametrize(("text", "renamed"), [("b", "§"), ("oat", None)])
def test_a_word_that_cannot_be_put_together_again_stays(text: str, renamed: str | None):
    """A model by another hand may lack the pieces that "boat" is made from."""
    whole = train_tokenizer(["moat boat coat red bed"] * 20, vocab_size=24)
    tokenizer = without(whole, text, renamed)
    ids = tokenizer.encode("boat red")
    assert pieces(tokenizer, ids)[0] == "▁boat"
    assert pieces(tokenizer, cut(tokenizer, "boat red", 1.0)) == ["▁boat", *"▁red"]
    assert cut(tokenizer, "boat red", 0.0) == ids


@pytest.mark.parametrize(("kind", "merges"), [("bpe", True), ("unigram", False)])
def test_only_byte_pair_encoding_has_merges(toy_lines: list[str], kind: str, merges: bool):
    assert train_tokenizer(toy_lines, vocab_size=40, model_type=kind).has_merges == merges
