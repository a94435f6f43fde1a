import io
import multiprocessing
import pickle
import subprocess
import sys

import pytest
import sentencepiece

from latimer.errors import LatimerError
from latimer.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Tokenizer, train_tokenizer


def _trained_by_hand(lines: list[str], **special_ids: int) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=40,
        minloglevel=2,
        **special_ids,
    )
    return model.getvalue()


def test_special_ids_are_always_the_same(tokenizer: Tokenizer):  # field case 23
    assert (PAD_ID, UNK_ID, BOS_ID, EOS_ID) == (0, 1, 2, 3)
    assert [tokenizer.piece(number) for number in range(4)] == ["<pad>", "<unk>", "<s>", "</s>"]


def test_round_trip(tokenizer: Tokenizer, toy_lines: list[str]):
    ids = tokenizer.encode_batch(toy_lines)
    assert [tokenizer.decode(line) for line in ids] == toy_lines
    assert [tokenizer.encode(line) for line in toy_lines] == ids
    assert min(min(line) for line in ids) > EOS_ID
    assert max(max(line) for line in ids) < tokenizer.vocab_size == 80


def test_no_text_is_no_pieces(tokenizer: Tokenizer):
    assert tokenizer.encode("") == tokenizer.encode("  ") == []
    assert tokenizer.decode([]) == ""


def test_an_unknown_character_leaves_no_mark(tokenizer: Tokenizer):  # field case 28
    ids = tokenizer.encode("red Ж kettle")
    assert ids.count(UNK_ID) == 1
    assert tokenizer.decode(ids).split() == ["red", "kettle"]
    assert tokenizer.decode([UNK_ID]) == ""


def test_special_ids_decode_to_nothing(tokenizer: Tokenizer):
    ids = tokenizer.encode("red boat")
    assert tokenizer.decode([BOS_ID, *ids, EOS_ID, PAD_ID, PAD_ID]) == "red boat"


@pytest.mark.parametrize("wrong", [-100, 80])
def test_an_id_out_of_range_is_an_error(tokenizer: Tokenizer, wrong: int):  # field case 119
    with pytest.raises(IndexError):
        tokenizer.decode([5, wrong])


def test_byte_fallback_spells_unknown_characters(toy_lines: list[str]):  # field case 28
    tokenizer = train_tokenizer(toy_lines, vocab_size=330, byte_fallback=True)
    ids = tokenizer.encode("red Ж kettle")
    assert UNK_ID not in ids
    assert tokenizer.decode(ids) == "red Ж kettle"


def test_a_hypothesis_is_one_line(toy_lines: list[str]):
    tokenizer = train_tokenizer(toy_lines, vocab_size=330, byte_fallback=True)
    line_feed = next(n for n in range(tokenizer.vocab_size) if tokenizer.piece(n) == "<0x0A>")
    boat = tokenizer.encode("boat")
    assert tokenizer.decode([*boat, line_feed, *boat]) == "boat  boat"


def test_normalization_is_chosen(toy_lines: list[str]):  # field case 27
    lines = [*toy_lines, "red… kettle"]
    rewriting = train_tokenizer(lines, vocab_size=80)
    keeping = train_tokenizer(lines, vocab_size=80, normalization="identity")
    assert rewriting.decode(rewriting.encode("red… kettle")) == "red... kettle"
    assert keeping.decode(keeping.encode("red… kettle")) == "red… kettle"


def test_equal_when_the_models_are(tokenizer: Tokenizer, toy_lines: list[str]):
    assert tokenizer == Tokenizer(tokenizer.model_bytes)
    assert len({tokenizer, Tokenizer(tokenizer.model_bytes)}) == 1
    assert tokenizer != train_tokenizer(toy_lines, vocab_size=81)


def test_pickled(tokenizer: Tokenizer):
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy == tokenizer
    assert copy.encode("red boat") == tokenizer.encode("red boat")


def test_reaches_a_spawned_process(tokenizer: Tokenizer):  # field case 35
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(tokenizer.encode, ["red boat"]) == [tokenizer.encode("red boat")]


def test_from_file(tokenizer: Tokenizer, tmp_path):
    path = tmp_path / "my.model"
    path.write_bytes(tokenizer.model_bytes)
    assert Tokenizer.from_file(path) == tokenizer


def test_a_model_without_padding_is_refused(toy_lines: list[str], tmp_path):  # field case 24
    path = tmp_path / "default.model"
    path.write_bytes(_trained_by_hand(toy_lines))
    with pytest.raises(LatimerError, match=r"default\.model.*pad_id=-1 .*train it with pad_id=0 "):
        Tokenizer.from_file(path)


def test_a_model_with_other_ids_is_refused(toy_lines: list[str]):
    with pytest.raises(LatimerError, match=r"pad_id=3 unk_id=0 bos_id=1 eos_id=2"):
        Tokenizer(_trained_by_hand(toy_lines, pad_id=3))


@pytest.mark.parametrize("content", [b"", b"not a model"])
def test_a_file_that_is_no_model(content: bytes, tmp_path):
    path = tmp_path / "other.model"
    path.write_bytes(content)
    with pytest.raises(LatimerError, match=r"tokenizer\.file=.*other\.model"):
        Tokenizer.from_file(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(LatimerError, match=r"tokenizer\.file=.*none\.model.*No such file"):
        Tokenizer.from_file(tmp_path / "none.model")


def test_importing_the_tokenizer_loads_no_torch():
    program = "import sys, latimer.tokenizer; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
