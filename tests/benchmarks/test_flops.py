import pytest
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import products
from benchmarks.flops import counted_flops, padded_flops, training_flops, useful_flops
from benchmarks.products import measure, products_of
from benchmarks.workloads import TOY, make_corpus
from latimer.model import Transformer
from latimer.training.loss import ROWS_TOGETHER, chunked_cross_entropy

V = 30


def test_the_formula_is_what_pytorch_counts(model_config, pairs):
    batch = pairs.collate(range(len(pairs)))
    assert padded_flops(model_config, V, batch) == counted_flops(model_config, V, batch)


def test_ours_has_the_same_products(model_config, even_pairs):
    # So many target pieces that the loss fills nothing up.
    batch = even_pairs.collate([0] * ROWS_TOGETHER)
    # Dropout on attention weights goes the way that PyTorch can count.
    sizes = {**model_config.model_dump(), "attention_dropout": 0.1}
    model = Transformer(source_vocab_size=V, target_vocab_size=V, **sizes)
    with FlopCounterMode(display=False) as counter:
        states = model.states(batch.source, batch.target_input).flatten(0, 1)
        labels = batch.labels.flatten()
        chunked_cross_entropy(states, model.output.weight, labels, 0.1).loss.backward()
    assert counter.get_total_flops() == padded_flops(model_config, V, batch)


def test_padding_is_not_useful(model_config, pairs, even_pairs):
    padded, even = (each.collate(range(len(each))) for each in (pairs, even_pairs))
    assert useful_flops(model_config, V, padded) < padded_flops(model_config, V, padded)
    assert useful_flops(model_config, V, even) == padded_flops(model_config, V, even)


def test_a_small_model_by_hand():
    # D 2, F 3, V 5, one layer each, S 1 and T 1: encoder 4 projections of 8, 24 of the feed-forward
    # and 8 of attention; decoder 8 projections, 24, and 16; 20 of the logits.
    class Config:
        d_model, d_ff, encoder_layers, decoder_layers = 2, 3, 1, 1

    flops = training_flops(Config, 5, sentences=2, source=1, target=1)
    assert flops == 3 * 2 * ((32 + 24 + 8) + (64 + 24 + 16) + 20)


def test_products_are_the_formula_without_attention(model_config):
    shapes = products_of(model_config, V, source=6, target=8)
    with_weights = 3 * sum(shape.flops * shape.times for shape in shapes)
    attention = 3 * 4 * 16 * (4 * 6 * 6 + 3 * 8 * (8 + 6))
    flops = training_flops(model_config, V, sentences=1, source=6, target=8)
    assert with_weights + attention == flops


@pytest.mark.slow
def test_measured_products_of_a_toy(monkeypatch, tmp_path):
    monkeypatch.setattr(products, "SQUARE", 32)
    make_corpus(TOY, tmp_path)
    row = measure([*TOY], str(tmp_path), "float32", repeats=1)
    assert row["count_of_one_batch"] == row["formula_of_one_batch"]
    assert 0 < row["useful_flops"] < row["padded_flops"]
    fastest = max(speed for *_, speed in row["shapes"])
    assert 0 < row["peak"] <= fastest
