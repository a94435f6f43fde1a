import pytest
import torch

from latimer.checkpoint import load_model, write_checkpoint
from latimer.errors import LatimerError
from latimer.tokenizer import train_tokenizer


def test_a_model_is_rebuilt_from_the_file_alone(tiny_checkpoint, make_model, tiny_tokenizer):
    # field case 83
    loaded = load_model(tiny_checkpoint)
    original = make_model()
    source, target = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, 9, 8]])
    assert torch.equal(loaded.model(source, target), original(source, target))
    assert not loaded.model.training
    assert loaded.tokenizers == (tiny_tokenizer, tiny_tokenizer)
    assert (loaded.source_language, loaded.target_language) == ("xx", "yy")
    assert loaded.updates == 100
    assert len(loaded.sha256) == 64


def test_separate_vocabularies_are_in_the_file(tmp_path, make_contents, separate_tokenizers):
    # field case 83
    contents = make_contents(tokenizers=separate_tokenizers)
    write_checkpoint(contents, tmp_path / "a.ckpt")
    loaded = load_model(tmp_path / "a.ckpt")
    assert loaded.tokenizers == separate_tokenizers
    assert loaded.model.output.out_features == separate_tokenizers.target.vocab_size == 50


@pytest.mark.parametrize("side", ["source", "target"])
def test_the_tokenizer_of_the_other_side_is_refused(
    tmp_path, make_contents, separate_tokenizers, side
):
    # field case 85
    contents = make_contents(tokenizers=separate_tokenizers)
    wrong = {"source": separate_tokenizers.target, "target": separate_tokenizers.source}[side]
    contents["latimer"][f"{side}_tokenizer"] = wrong.model_bytes
    write_checkpoint(contents, tmp_path / "a.ckpt")
    with pytest.raises(LatimerError, match=f"the {side} tokenizer is not the one that the model"):
        load_model(tmp_path / "a.ckpt")
    contents["latimer"][f"{side}_tokenizer_sha256"] = wrong.sha256
    write_checkpoint(contents, tmp_path / "a.ckpt")
    with pytest.raises(LatimerError, match=f"the {side} tokenizer has .* model's {side} embedding"):
        load_model(tmp_path / "a.ckpt")


def test_another_tokenizer_of_the_same_size_is_refused(
    tmp_path, make_contents, make_sentences, tiny_tokenizer
):
    # field case 85
    other = train_tokenizer(make_sentences(300, 5), vocab_size=tiny_tokenizer.vocab_size)
    contents = make_contents()
    contents["latimer"]["tokenizer"] = other.model_bytes
    write_checkpoint(contents, tmp_path / "a.ckpt")
    with pytest.raises(LatimerError, match="not the one that the model was trained with") as caught:
        load_model(tmp_path / "a.ckpt")
    assert other.sha256 in str(caught.value)
    assert tiny_tokenizer.sha256 in str(caught.value)


def test_a_tokenizer_of_another_size_is_refused_with_both_sizes(
    tmp_path, make_contents, make_sentences
):
    # field case 85
    other = train_tokenizer(make_sentences(300, 5), vocab_size=50)
    contents = make_contents()
    contents["latimer"] |= {"tokenizer": other.model_bytes, "tokenizer_sha256": other.sha256}
    write_checkpoint(contents, tmp_path / "a.ckpt")
    with pytest.raises(LatimerError, match=r"has 50 pieces, but the model's source .* 60 rows"):
        load_model(tmp_path / "a.ckpt")


def test_a_model_without_the_newer_hyperparameters_is_the_papers(tmp_path, make_contents):
    """Field case 86: as a version wrote it that did not have these yet."""
    contents = make_contents()
    newer = ("attention_dropout", "feed_forward_dropout", "positions", "norm", "max_length")
    for name in newer:
        del contents["latimer"]["hyperparameters"][name]
    write_checkpoint(contents, tmp_path / "a.ckpt")
    assert load_model(tmp_path / "a.ckpt").model.hyperparameters["positions"] == "sinusoidal"


@pytest.mark.parametrize("changes", [{"experts": 8}, {"norm": "batch"}])
def test_hyperparameters_of_another_version_are_refused_with_both(tmp_path, make_contents, changes):
    # field case 86
    contents = make_contents()
    contents["latimer"]["hyperparameters"] |= changes
    contents["latimer"]["version"] = "99.0"
    write_checkpoint(contents, tmp_path / "a.ckpt")
    expected = rf"a\.ckpt: written by latimer 99\.0, .* not those of .*{next(iter(changes))}"
    with pytest.raises(LatimerError, match=expected):
        load_model(tmp_path / "a.ckpt")


def test_weights_of_other_sizes_are_refused(tmp_path, make_contents):
    contents = make_contents()
    contents["latimer"]["hyperparameters"] |= {"d_ff": 64}
    write_checkpoint(contents, tmp_path / "a.ckpt")
    with pytest.raises(LatimerError, match="do not fit the stored hyper-parameters"):
        load_model(tmp_path / "a.ckpt")
