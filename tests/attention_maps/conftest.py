"""Readings of a tiny model with random weights."""

import pytest

from latimer.attention_maps import read_sentence, write_reading
from latimer.checkpoint import load_model, write_checkpoint


@pytest.fixture(scope="session")
def loaded(make_contents, tmp_path_factory):
    """The tiny model, as the best one of a run."""
    folder = tmp_path_factory.mktemp("run") / "checkpoints"
    folder.mkdir()
    write_checkpoint(make_contents(), folder / "best.ckpt")
    return load_model(folder.parent)


@pytest.fixture(scope="session")
def reading(loaded):
    return read_sentence(loaded, "the old boat", "a small red door")


@pytest.fixture(scope="session")
def written(reading, tmp_path_factory):
    """The page of a reading, in a folder of its own."""
    return write_reading(reading, tmp_path_factory.mktemp("pictures") / "new")


@pytest.fixture
def load_other(make_contents, tmp_path):
    """A tiny model with other hyper-parameters or tokenizers."""

    def load(**changes):
        path = tmp_path / "other.ckpt"
        write_checkpoint(make_contents(**changes), path)
        return load_model(path)

    return load
