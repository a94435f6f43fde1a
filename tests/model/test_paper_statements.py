"""What the paper says in passing: consequences of its formulas that can be checked in ours."""

import math

import pytest
import torch
import torch.nn.functional as F

from latimer.model.attention import MultiHeadAttention, reference_attention
from latimer.model.embeddings import Embedding
from latimer.model.feed_forward import FeedForward
from latimer.model.positions import sinusoids

D = 64


# section 3.1
def test_all_sublayers_and_embeddings_give_vectors_of_d_model(build_model):
    model = build_model(d_k=5, d_v=7, d_ff=11)
    widths = []
    for module in model.modules():
        if isinstance(module, MultiHeadAttention | FeedForward | Embedding):
            module.register_forward_hook(lambda *call: widths.append(call[2].shape[-1]))
    model(torch.tensor([[5, 6, 3]]), torch.tensor([[2, 7]]))
    assert widths == [32] * (2 + 2 * 2 + 2 * 3)


# section 3.2.1 and its footnote: the dot products of random vectors have a variance of d_k
@pytest.mark.parametrize("d_k", [4, 64, 1024])
def test_scores_are_scaled_to_a_variance_of_one(d_k):
    torch.manual_seed(1)
    query, key = torch.randn(50, d_k), torch.randn(2000, d_k)
    _, weights = reference_attention(query, key, key)
    assert (query @ key.T).var().item() == pytest.approx(d_k, rel=0.1)
    assert weights.log().var(dim=-1).mean().item() == pytest.approx(1.0, rel=0.1)


# section 3.3
def test_the_feed_forward_network_is_two_convolutions_of_width_one():
    torch.manual_seed(1)
    network, states = FeedForward(d_model=8, d_ff=16), torch.randn(2, 5, 8)
    inner = F.conv1d(states.mT, network.inner.weight.unsqueeze(2), network.inner.bias).relu()
    outer = F.conv1d(inner, network.outer.weight.unsqueeze(2), network.outer.bias)
    assert torch.allclose(network(states), outer.mT, atol=1e-6)


# section 3.3
def test_layers_have_parameters_of_their_own(build_model):
    model = build_model()
    for stack in (model.encoder, model.decoder):
        parameters = [id(p) for _, p in stack.named_parameters(remove_duplicate=False)]
        assert len(parameters) == len(set(parameters))


# section 3.5
def test_wavelengths_form_a_geometric_progression():
    first_step = sinusoids(2, D)[1].double()
    wavelengths = 2 * math.pi / torch.atan2(first_step[0::2], first_step[1::2])
    assert wavelengths[0].item() == pytest.approx(2 * math.pi)
    ratios = wavelengths[1:] / wavelengths[:-1]
    assert torch.allclose(ratios, torch.full_like(ratios, 10000 ** (2 / D)), rtol=1e-5)
    assert (wavelengths[-1] * ratios[-1]).item() == pytest.approx(10000 * 2 * math.pi, rel=1e-4)


# section 3.5
@pytest.mark.parametrize("offset", [1, 7, 50])
def test_a_position_further_on_is_a_linear_function_of_this_one(offset):
    table = sinusoids(100, D)
    sine, cosine = table[:, 0::2], table[:, 1::2]
    # A turn of each pair by an angle that depends on the offset alone.
    turned_sine = sine * cosine[offset] + cosine * sine[offset]
    turned_cosine = cosine * cosine[offset] - sine * sine[offset]
    turned = torch.stack([turned_sine, turned_cosine], dim=-1).flatten(1)
    assert torch.allclose(turned[:-offset], table[offset:], atol=1e-5)
