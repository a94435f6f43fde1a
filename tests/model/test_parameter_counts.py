"""Table 3 of the paper as a ledger: exact counts, and what each change costs.

The paper's own column ("65 M") fits no single vocabulary; these hold for V = 37,000 with one shared
matrix, attention projections without bias, feed-forward with bias, norms with gain and bias.
"""

import pytest
import torch

from latimer.model import Transformer

BASE = 63_045_632
BIG = 214_171_648
V = 37_000


def count(vocabulary=V, **changes):
    """Counts the parameters of a model that needs no memory."""
    with torch.device("meta"):
        model = Transformer(source_vocab_size=vocabulary, target_vocab_size=vocabulary, **changes)
    return sum(parameter.numel() for parameter in model.parameters())


def layers(number):
    return {"encoder_layers": number, "decoder_layers": number}


TABLE_3 = {
    "table3_base": ({}, BASE),
    "table3_a_heads_1": ({"heads": 1, "d_k": 512, "d_v": 512}, BASE),
    "table3_a_heads_4": ({"heads": 4, "d_k": 128, "d_v": 128}, BASE),
    "table3_a_heads_16": ({"heads": 16, "d_k": 32, "d_v": 32}, BASE),
    "table3_a_heads_32": ({"heads": 32, "d_k": 16, "d_v": 16}, BASE),
    "table3_b_d_k_16": ({"d_k": 16}, 55_967_744),
    "table3_b_d_k_32": ({"d_k": 32}, 58_327_040),
    "table3_c_layers_2": (layers(2), 33_644_544),
    "table3_c_layers_4": (layers(4), 48_345_088),
    "table3_c_layers_8": (layers(8), 77_746_176),
    "table3_c_d_model_256": ({"d_model": 256, "d_k": 32, "d_v": 32}, 26_816_512),
    "table3_c_d_model_1024": ({"d_model": 1024, "d_k": 128, "d_v": 128}, 163_815_424),
    "table3_c_d_ff_1024": ({"d_ff": 1024}, 50_450_432),
    "table3_c_d_ff_4096": ({"d_ff": 4096}, 88_236_032),
    "table3_d_dropout_0.0": ({"dropout": 0.0}, BASE),
    "table3_d_dropout_0.2": ({"dropout": 0.2}, BASE),
    "table3_d_label_smoothing_0.0": ({}, BASE),
    "table3_d_label_smoothing_0.2": ({}, BASE),
    "table3_e_learned_positions": ({"positions": "learned", "max_length": 256}, 63_307_776),
    "table3_big": ({"d_model": 1024, "heads": 16, "d_ff": 4096, "dropout": 0.3}, BIG),
}
"""The recipe of each row in ``conf/experiment/paper``: its changes to base, and its parameters."""


@pytest.mark.parametrize(("changes", "expected"), TABLE_3.values(), ids=list(TABLE_3))
def test_table_3(changes, expected):
    assert count(**changes) == expected


def test_two_layers_more_or_less_cost_the_same():
    assert {count(**layers(n + 2)) - count(**layers(n)) for n in (2, 4, 6)} == {14_700_544}


@pytest.mark.parametrize(
    "changes",
    [
        {"positions": "rotary"},
        {"activation": "gelu"},
        {"attention_dropout": 0.1, "feed_forward_dropout": 0.1},
    ],
    ids=str,
)
def test_what_costs_no_parameter(changes):
    assert count(**changes) == BASE


def test_swiglu_costs_a_third_matrix_in_every_feed_forward_network():
    assert count(activation="swiglu") - BASE == 12 * (512 * 2048 + 2048)
    # two thirds of d_ff make up for it, but for some biases
    assert count(activation="swiglu", d_ff=2 * 2048 // 3) == pytest.approx(BASE, rel=1e-3)


def attention_biases(d_model, encoder_layers, decoder_layers):
    """What biases on all four projections would add; the paper's equations have none."""
    return (encoder_layers + 2 * decoder_layers) * 4 * d_model


def test_the_stacks_alone():
    # field case 45, whose figures have biases on the attention projections
    assert BASE - V * 512 + attention_biases(512, 6, 6) == 44_138_496
    small = {"d_model": 64, "heads": 4, "d_ff": 256, **layers(2)}
    assert count(1000, **small) - 1000 * 64 + attention_biases(64, 2, 2) == 233_472


def test_only_pre_norm_adds_a_norm_at_the_end_of_each_stack():
    # field case 45
    assert count(norm_position="pre") - BASE == 2 * (512 + 512)
    assert count(norm_position="pre") - V * 512 + attention_biases(512, 6, 6) == 44_140_544


def test_rms_norms_have_no_bias():
    norms_of_base = 6 * 2 + 6 * 3
    assert BASE - count(norm="rms") == norms_of_base * 512


@pytest.mark.parametrize(
    ("tying", "with_attention_biases"),
    [("all", 297_472), ("decoder", 297_472 + 64_000), ("none", 425_472)],
)
def test_tying_saves_whole_matrices(tying, with_attention_biases):
    # field case 47
    small = {"d_model": 64, "heads": 4, "d_ff": 256, "tying": tying, **layers(2)}
    assert count(1000, **small) + attention_biases(64, 2, 2) == with_attention_biases
