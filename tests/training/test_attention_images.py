"""Cross-attention in TensorBoard: of the same pairs at each validation."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from latimer.attention_maps import draw_layers, read_weights
from latimer.attention_maps.heatmaps import as_pixels
from latimer.checkpoint import load_model
from latimer.training.validation import evenly_spaced

FIRST = "val/cross_attention/1"


def images(run, tag):
    """The pictures of a tag by their update."""
    return {
        event.step: np.asarray(Image.open(BytesIO(event.encoded_image_string)))
        for event in run.events.Images(tag)
    }


def test_one_picture_at_each_validation(short_run):
    assert short_run.events.Tags()["images"] == [FIRST]
    assert list(images(short_run, FIRST)) == [3, 6]


def test_the_picture_is_that_of_the_saved_weights(short_run):
    loaded = load_model(short_run.folder / "checkpoints" / "last.ckpt")
    data = short_run.config.data.validation
    texts = [Path(path).read_text(encoding="utf-8") for path in (data.source, data.target)]
    lines = [text.split("\n")[0] for text in texts]
    ids = [side.encode(line) for side, line in zip(loaded.tokenizers, lines, strict=True)]
    cross = read_weights(loaded.model, loaded.tokenizers, *ids).cross
    assert np.array_equal(images(short_run, FIRST)[6], as_pixels(draw_layers(cross)))


def test_the_picture_changes_as_the_model_learns(short_run):
    first, last = images(short_run, FIRST).values()
    assert first.shape == last.shape
    assert not np.array_equal(first, last)


def test_pairs_are_spread_over_those_that_are_translated(run):
    ended = run(validation__attention_sentences=3, validation__bleu_sentences=6)
    tags = [f"val/cross_attention/{number}" for number in (1, 2, 3)]
    assert ended.events.Tags()["images"] == tags
    assert [evenly_spaced(12, 6)[row] for row in evenly_spaced(6, 3)] == [0, 4, 8]


@pytest.mark.parametrize("changes", [{"validation__attention_sentences": 0}, {"logger": {}}])
def test_no_pictures_and_the_same_weights(run, short_run, changes):
    ended = run(**changes)
    assert ended.events.Tags()["images"] == []
    assert torch.equal(ended.weights, short_run.weights)
