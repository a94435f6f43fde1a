import pytest

from latimer.tokenizer import TOKENIZER_NAMES, Tokenizer, Tokenizers, train_tokenizer


@pytest.fixture(scope="module")
def other(toy_lines: list[str]) -> Tokenizer:
    return train_tokenizer(toy_lines, vocab_size=60)


def test_a_joint_one_is_named_once(tokenizer: Tokenizer):
    joint = Tokenizers.joint(tokenizer)
    assert joint.source is joint.target is tokenizer
    assert joint.named == {"tokenizer": tokenizer}
    assert joint.hashes == {"tokenizer_sha256": tokenizer.sha256}


def test_separate_ones_are_named_by_their_side(tokenizer: Tokenizer, other: Tokenizer):
    separate = Tokenizers(tokenizer, other)
    assert separate.named == {"source_tokenizer": tokenizer, "target_tokenizer": other}
    assert separate.hashes == {
        "source_tokenizer_sha256": tokenizer.sha256,
        "target_tokenizer_sha256": other.sha256,
    }
    assert separate.vocab_sizes == {"source_vocab_size": 80, "target_vocab_size": 60}


def test_names_lead_back(tokenizer: Tokenizer, other: Tokenizer):
    for tokenizers in (Tokenizers.joint(tokenizer), Tokenizers(other, tokenizer)):
        assert Tokenizers.from_named(tokenizers.named) == tokenizers
        assert set(tokenizers.named) <= set(TOKENIZER_NAMES)
