import pytest
import torch

from latimer.checkpoint import (
    average,
    load_average,
    load_model,
    read_checkpoint,
    write_checkpoint,
)
from latimer.errors import LatimerError


def write_all(folder, *contents):
    paths = [folder / f"{number}.ckpt" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        write_checkpoint(content, path)
    return paths


def test_the_mean_of_every_weight(tmp_path, make_contents):
    contents = [make_contents(seed, updates=100 * seed) for seed in (3, 1, 2)]
    contents[0]["optimizer_states"] = [{"state": {0: torch.zeros(3)}}]
    contents[0]["latimer"] |= {"position": {"epoch": 1}, "random_states": []}
    averaged = average(write_all(tmp_path, *contents))
    for name, weight in averaged["state_dict"].items():
        stacked = torch.stack([content["state_dict"][name] for content in contents])
        torch.testing.assert_close(weight, stacked.double().mean(0).float(), rtol=0, atol=0)
    assert averaged["latimer"]["updates"] == 300
    assert averaged["latimer"]["averaged"] == [100, 200, 300]
    assert averaged["latimer"]["scores"] == {}
    assert set(averaged) == {"latimer", "state_dict"}
    assert not {"position", "random_states"} & set(averaged["latimer"])


def test_sums_are_in_float64(tmp_path, make_contents):
    contents = [make_contents() for _ in range(3)]
    name = "model.output.weight"
    for content, value in zip(contents, (1e8, 1.0, -1e8), strict=True):
        content["state_dict"][name] = torch.full_like(content["state_dict"][name], value)
    averaged = average(write_all(tmp_path, *contents))
    assert averaged["state_dict"][name][0, 0].item() == pytest.approx(1 / 3)


def test_the_mean_of_one_is_itself_and_loads_as_every_other(tmp_path, make_contents):
    [path] = write_all(tmp_path, make_contents(tying="all"))
    write_checkpoint(average([path]), tmp_path / "averaged.ckpt")
    original, averaged = load_model(path).model, load_model(tmp_path / "averaged.ckpt").model
    for name, weight in original.state_dict().items():
        assert torch.equal(weight, averaged.state_dict()[name])


def test_a_tied_matrix_is_stored_once(tmp_path, make_contents):
    paths = write_all(tmp_path, make_contents(1, tying="all"), make_contents(2, tying="all"))
    write_checkpoint(average(paths), tmp_path / "averaged.ckpt")
    weights = read_checkpoint(tmp_path / "averaged.ckpt")["state_dict"]
    names = ("source_embedding.pieces", "target_embedding.pieces", "output")
    assert len({weights[f"model.{name}.weight"].data_ptr() for name in names}) == 1


@pytest.mark.parametrize("key", ["hyperparameters", "tokenizer_sha256", "target_language"])
def test_only_like_is_averaged_with_like(tmp_path, make_contents, key):
    assert_must_agree(key, make_contents(), make_contents(), tmp_path)


@pytest.mark.parametrize("key", ["source_tokenizer_sha256", "target_tokenizer_sha256"])
def test_the_tokenizer_of_either_side_counts(tmp_path, make_contents, separate_tokenizers, key):
    one, other = (make_contents(tokenizers=separate_tokenizers) for _ in range(2))
    assert_must_agree(key, one, other, tmp_path)


def assert_must_agree(key, one, other, folder):
    other["latimer"][key] = "0" * 64
    paths = write_all(folder, one, other)
    with pytest.raises(LatimerError, match=f"the {key} of ") as caught:
        average(paths)
    assert all(str(path) in str(caught.value) for path in paths)


def test_nothing_has_no_mean():
    with pytest.raises(LatimerError, match="no checkpoints"):
        average([])


def test_a_mean_is_loaded_without_a_file(tmp_path, make_contents):
    """It has a hash of its own, and knows what it is the mean of."""
    contents = [make_contents(seed, updates=100 * seed) for seed in (1, 2, 3)]
    paths = write_all(tmp_path, *contents)
    loaded = load_average(paths, "mean of three")
    write_checkpoint(average(paths), tmp_path / "averaged.ckpt")
    written = load_model(tmp_path / "averaged.ckpt")
    for name, weight in written.model.state_dict().items():
        assert torch.equal(loaded.model.state_dict()[name], weight)
    assert loaded.averaged == written.averaged == (100, 200, 300)
    assert (loaded.path, loaded.updates) == (tmp_path / "mean of three", 300)
    assert loaded.sha256 == load_average(paths, "again").sha256
    hashes = {load_average(some, "again").sha256 for some in (paths, paths[:2], paths[1:])}
    assert len(hashes) == 3
    assert load_model(paths[0]).averaged == ()
