"""What is read is what the model computes, with the pieces that it belongs to."""

import numpy as np
import pytest
import torch

from latimer.attention_maps import read_sentence
from latimer.decoding import force_decode
from latimer.errors import LatimerError
from latimer.translation import Translator, stored_search


def by_the_model(loaded, source, target):
    """Weights of a pair, asked of the model itself: (layers, H, rows, columns) of each kind."""
    source_ids = [*loaded.tokenizers.source.encode(source), 3]
    target_ids = [2, *loaded.tokenizers.target.encode(target)]
    weights = loaded.model.attention_weights(torch.tensor([source_ids]), torch.tensor([target_ids]))
    return [kind.squeeze(1).numpy() for kind in weights]


def test_the_weights_are_the_models(loaded, reading):
    for attention, expected in zip(
        reading.maps, by_the_model(loaded, "the old boat", "a small red door"), strict=True
    ):
        assert np.array_equal(attention.weights, expected)


def test_layers_and_heads(reading):
    layers_and_heads = [attention.weights.shape[:2] for attention in reading.maps]
    assert layers_and_heads == [(1, 2), (2, 2), (2, 2)]
    assert [attention.kind for attention in reading.maps] == ["encoder", "decoder", "cross"]


def test_every_row_is_a_query_and_every_column_a_key(reading):
    for attention in reading.maps:
        assert attention.weights.shape[2:] == (len(attention.queries), len(attention.keys))
        assert attention.weights.sum(axis=-1) == pytest.approx(1.0, abs=1e-6)


def test_rows_of_the_decoder_are_called_by_what_they_write(loaded, reading):
    tokenizer = loaded.tokenizers.target
    target = [tokenizer.piece(piece) for piece in tokenizer.encode("a small red door")]
    source = [tokenizer.piece(piece) for piece in tokenizer.encode("the old boat")]
    assert reading.maps.encoder.queries == reading.maps.encoder.keys == (*source, "</s>")
    assert reading.maps.decoder.keys == ("<s>", *target)
    assert reading.maps.decoder.queries == reading.maps.cross.queries == (*target, "</s>")
    assert reading.maps.cross.keys == (*source, "</s>")


def test_the_decoder_looks_at_nothing_that_it_has_yet_to_write(reading):
    weights = reading.maps.decoder.weights
    future = np.triu(np.ones(weights.shape[2:], dtype=bool), k=1)
    assert (weights[..., future] == 0.0).all()


def test_the_translation_is_the_one_of_the_run(loaded):
    reading = read_sentence(loaded, "the old boat")
    translator = Translator.from_loaded(loaded, stored_search(loaded.config))
    [translation] = translator.translations(["the old boat"])
    best = translation.hypotheses[0]
    pieces = [loaded.tokenizers.target.piece(piece) for piece in best.ids]
    assert (reading.target, reading.given) == (translation.text, False)
    assert reading.log_probability == best.log_probability
    assert reading.maps.cross.queries == (*pieces, "</s>")


def test_a_given_target_has_the_probability_of_its_forced_decoding(loaded, reading):
    source, target = (loaded.tokenizers.source.encode(t) for t in (reading.source, reading.target))
    [forced] = force_decode(loaded.model, torch.tensor([[*source, 3]]), [target], 0.6)
    assert (reading.target, reading.given) == ("a small red door", True)
    assert reading.log_probability == pytest.approx(forced.log_probability, abs=1e-6)


def test_each_side_has_its_own_vocabulary(load_other, separate_tokenizers):
    reading = read_sentence(load_other(tokenizers=separate_tokenizers), "the boat", "THE BOAT")
    assert "".join(reading.maps.cross.keys) == "▁the▁boat</s>"
    assert "".join(reading.maps.cross.queries) == "▁THE▁BOAT</s>"


@pytest.mark.parametrize("nothing", ["", "  ", "\u200b", "\n"])
def test_a_sentence_or_target_without_a_piece_is_refused(loaded, nothing):
    with pytest.raises(LatimerError, match="the sentence is empty"):
        read_sentence(loaded, nothing)
    with pytest.raises(LatimerError, match="the target is empty"):
        read_sentence(loaded, "the boat", nothing)


def test_text_in_another_encoding_is_refused(loaded):
    with pytest.raises(LatimerError, match="the sentence is not UTF-8"):
        read_sentence(loaded, "caf\udce9")


def test_more_pieces_than_learned_positions_are_refused(load_other):
    loaded = load_other(positions="learned", max_length=6)
    with pytest.raises(LatimerError, match=r"the sentence has 6 pieces.*only 6 positions"):
        read_sentence(loaded, "the " * 6)
    with pytest.raises(LatimerError, match=r"the target has 6 pieces"):
        read_sentence(loaded, "the", "the " * 6)
    assert read_sentence(loaded, "the " * 5, "the " * 5).maps.cross.weights.shape[2:] == (6, 6)


def test_more_pieces_than_a_picture_takes_are_refused(loaded):
    with pytest.raises(LatimerError, match="the sentence has 301 pieces"):
        read_sentence(loaded, "the " * 301)
    with pytest.raises(LatimerError, match="the target has 301 pieces"):
        read_sentence(loaded, "the", "the " * 301)


def test_the_corner_of_a_map(reading):
    corner = reading.maps.cross.first(2)
    assert np.array_equal(corner.weights, reading.maps.cross.weights[:, :, :2, :2])
    assert (corner.queries, corner.keys) == (
        reading.maps.cross.queries[:2],
        reading.maps.cross.keys[:2],
    )
