"""The feed-forward network and its activations, on numbers worked out (section 3.3)."""

import math

import pytest
import torch
from torch.testing import assert_close

from latimer.model.feed_forward import ACTIVATIONS, FeedForward, make_feed_forward


def test_the_feed_forward_network_is_two_products_with_a_relu_between():
    feed_forward, states = FeedForward(d_model=4, d_ff=6), torch.randn(2, 3, 4)
    inner, outer = feed_forward.inner, feed_forward.outer
    hidden = (states @ inner.weight.T + inner.bias).clamp(min=0)
    assert_close(feed_forward(states), hidden @ outer.weight.T + outer.bias)


def of_one_number(activation, **weights):
    """A network of width one whose biases are zero and whose weights are given."""
    network = make_feed_forward(activation, d_model=1, d_ff=1)
    for name, weight in {"outer": 1.0, "inner": 1.0, **weights}.items():
        matrix = network.get_submodule(name)
        matrix.weight.data.fill_(weight)
        matrix.bias.data.zero_()
    return lambda number: network(torch.tensor([number])).item()


@pytest.mark.parametrize(("number", "expected"), [(2.0, 2.0), (-2.0, 0.0), (0.0, 0.0)])
def test_relu(number, expected):
    assert of_one_number("relu")(number) == expected


@pytest.mark.parametrize("number", [-3.0, -0.5, 0.0, 1.0, 2.0])
def test_gelu_is_the_number_times_the_share_of_a_normal_distribution_below_it(number):
    below = (1.0 + math.erf(number / math.sqrt(2.0))) / 2.0
    assert of_one_number("gelu")(number) == pytest.approx(number * below, abs=1e-6)


@pytest.mark.parametrize("number", [-3.0, -0.5, 0.0, 1.0, 2.0])
def test_swiglu_is_the_gate_times_its_sigmoid_times_the_inner_product(number):
    gate, inner = 1.5 * number, -0.5 * number
    expected = 3.0 * gate / (1.0 + math.exp(-gate)) * inner
    network = of_one_number("swiglu", gate=1.5, inner=-0.5, outer=3.0)
    assert network(number) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_weight_is_used_and_every_position_is_alone(activation):
    network, states = make_feed_forward(activation, d_model=8, d_ff=12), torch.randn(2, 5, 8)
    together = network(states)
    assert_close(network(states[:, 3:4]), together[:, 3:4])
    together.sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in network.parameters())


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_analytic_gradients_equal_finite_differences(activation):
    torch.manual_seed(4)
    network = make_feed_forward(activation, d_model=3, d_ff=5).double()
    states = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(network, (states,))


def test_an_unknown_activation_is_refused():
    with pytest.raises(ValueError, match="activation: 'tanh' is not one of relu, gelu, swiglu"):
        make_feed_forward("tanh", d_model=4, d_ff=6)
