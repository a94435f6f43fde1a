"""Dropout, where the paper names it (section 5.4), and nowhere else unless it is asked for."""

import pytest
import torch

from latimer.model.attention import MultiHeadAttention, ScaledDotProductAttention, attention_weights
from latimer.model.dropout import Dropout
from latimer.model.feed_forward import ACTIVATIONS, FeedForward, make_feed_forward


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5])
def test_so_many_are_dropped_and_the_others_scaled_up(probability, dtype):
    torch.manual_seed(1)
    found = Dropout(probability)(torch.ones(10_000, 403, dtype=dtype)).float()
    # Four standard deviations of four million draws are at most 0.001; eight bits alone would
    # make 0.0977 of 0.1.
    assert found.eq(0).float().mean().item() == pytest.approx(probability, abs=1e-3)
    kept = found[found != 0]
    assert kept.unique().numel() == 1
    assert kept[0].item() == pytest.approx(1 / (1 - probability), rel=4e-3)


@pytest.mark.parametrize("probability", [1e-4, 0.001, 0.999])
def test_a_probability_that_eight_bits_round_away_is_kept(probability):
    torch.manual_seed(1)
    dropped = Dropout(probability)(torch.ones(100_000, 64)).eq(0).double().mean().item()
    # four standard deviations of 6,400,000 draws, and of the thresholds of their rows
    assert dropped == pytest.approx(probability, abs=6e-5)


def test_neighbours_are_dropped_independently():
    torch.manual_seed(1)
    dropped = Dropout(0.3)(torch.ones(100_000, 8)).eq(0).float()
    # columns share one random number each; neither rate nor correlation may show it
    assert (dropped.mean(dim=0) - 0.3).abs().max() < 0.01
    correlation = torch.corrcoef(dropped.T) - torch.eye(8)
    assert correlation.abs().max() < 0.02


def test_the_gradient_passes_where_the_value_passed():
    states = torch.randn(7, 5, requires_grad=True)
    found = Dropout(0.5)(states)
    found.sum().backward()
    assert torch.equal(states.grad.eq(0), found.eq(0))
    assert torch.equal(states.grad.unique(), torch.tensor([0.0, 2.0]))


def test_evaluation_and_probability_zero_change_nothing():
    states = torch.randn(3, 4)
    assert torch.equal(Dropout(0.5).eval()(states), states)
    assert torch.equal(Dropout(0.0).train()(states), states)


def test_a_seed_repeats_the_choice():
    dropout, states = Dropout(0.5), torch.ones(50, 3)
    first, second = (torch.manual_seed(3) and dropout(states) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(second, dropout(states))


def places_of_dropout(model, probability=0.25):
    """The modules that drop so much; all others drop nothing."""
    places = {n: m.probability for n, m in model.named_modules() if isinstance(m, Dropout)}
    assert set(places.values()) <= {probability, 0.0}
    dropping = [name for name in places if places[name]]
    return sorted(name.removesuffix(".dropout").rpartition(".")[2] for name in dropping)


def test_it_stands_after_every_sublayer_and_after_both_embeddings(build_model):
    model = build_model(dropout=0.25, encoder_layers=3, decoder_layers=2)
    assert places_of_dropout(model) == sorted(
        ["around_self_attention"] * 5
        + ["around_cross_attention"] * 2
        + ["around_feed_forward"] * 5
        + ["source_embedding", "target_embedding"]
    )


def test_attention_weights_and_the_inner_layer_are_never_dropped():
    states = torch.randn(2, 5, 8)
    attention = MultiHeadAttention(d_model=8, heads=2, d_k=4, d_v=4).train()
    assert torch.equal(attention(states, states, None), attention(states, states, None))
    feed_forward = FeedForward(d_model=8, d_ff=16).train()
    assert torch.equal(feed_forward(states), feed_forward(states))


def test_departures_drop_inside_the_sublayers_that_they_name(build_model):
    quiet = {"dropout": 0.0, "encoder_layers": 3, "decoder_layers": 2}
    inside = build_model(attention_dropout=0.25, **quiet)
    assert places_of_dropout(inside) == ["attention"] * (3 + 2 * 2)
    inside = build_model(feed_forward_dropout=0.25, **quiet)
    assert places_of_dropout(inside) == ["feed_forward"] * (3 + 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_attention_weights_are_dropped_after_the_softmax(dtype):
    attend = ScaledDotProductAttention(dropout=0.5).train()
    query, key = (torch.randn(2, 2, 30, 8).to(dtype) for _ in range(2))
    may_attend = (torch.rand(2, 1, 30, 30) < 0.8).index_fill(2, torch.tensor([4]), False)
    # Values that are one-hot give the weights themselves.
    found = attend(query, key, torch.eye(30, dtype=dtype).expand(2, 2, 30, 30), may_attend)
    kept = attention_weights(query, key, may_attend)
    dropped = found.eq(0) & kept.ne(0)
    assert dropped.sum() / kept.ne(0).sum() == pytest.approx(0.5, abs=0.05)
    torch.testing.assert_close(found, (2 * kept).masked_fill(dropped, 0.0))
    whole = attend.eval()(query, key, torch.eye(30, dtype=dtype).expand(2, 2, 30, 30), may_attend)
    torch.testing.assert_close(whole, kept)


@pytest.mark.parametrize(("training", "expected"), [(True, 0.5), (False, 0.0)])
def test_a_fused_kernel_is_told_to_drop_in_training_alone(monkeypatch, training, expected):
    told = []
    monkeypatch.setattr(
        "torch.nn.functional.scaled_dot_product_attention",
        lambda query, key, value, dropout_p, **_mask: told.append(dropout_p) or value,
    )
    states = torch.randn(1, 2, 3, 4, device="meta")  # any device but the CPU, which has no such one
    ScaledDotProductAttention(dropout=0.5).train(training)(states, states, states, None)
    assert told == [expected]


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_feed_forward_dropout_applies_to_what_the_outer_matrix_gets(activation):
    feed_forward = make_feed_forward(activation, d_model=64, d_ff=64, dropout=0.5)
    feed_forward.outer = torch.nn.Identity()
    states = torch.randn(20, 64)
    found, kept = feed_forward.train()(states), feed_forward.eval()(states)
    dropped = found.eq(0) & kept.ne(0)
    assert dropped.sum() / kept.ne(0).sum() == pytest.approx(0.5, abs=0.1)
    torch.testing.assert_close(found, (2 * kept).masked_fill(dropped, 0.0))


def test_embedding_and_sublayer_outputs_are_dropped_in_training(build_model):
    model, ids = build_model(dropout=0.5).train(), torch.randint(4, 40, (2, 50))
    assert model.source_embedding(ids).eq(0).float().mean().item() == pytest.approx(0.5, abs=0.05)
    around = model.encoder.layers[0].around_feed_forward
    around.norm = torch.nn.Identity()
    nothing_added = around(torch.zeros(2, 50, 32), torch.ones_like).eq(0).float().mean().item()
    assert nothing_added == pytest.approx(0.5, abs=0.05)
