"""Where the norm stands (sections 3.1 and 5.4, field case 45)."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from latimer.model.residual import PostNorm, PreNorm, make_norm, make_residual

SOURCE = torch.tensor([[5, 6, 7, 3]])


def doubled(states):
    return 2.0 * states


def test_post_norm_normalises_the_sum():
    around = PostNorm(d_model=2, dropout=0.1, norm="layer").eval()
    # x + 2x = (3, 9): mean 6, deviation 3
    found = around(torch.tensor([[[1.0, 3.0]]]), doubled)
    assert_close(found, torch.tensor([[[-1.0, 1.0]]]), atol=1e-5, rtol=0)


def test_pre_norm_normalises_what_enters_and_adds_the_rest_untouched():
    around = PreNorm(d_model=2, dropout=0.1, norm="layer").eval()
    # x + 2 · norm(x) = (1, 3) + 2 · (-1, 1)
    found = around(torch.tensor([[[1.0, 3.0]]]), doubled)
    assert_close(found, torch.tensor([[[-1.0, 5.0]]]), atol=1e-4, rtol=0)


def test_rms_norm_divides_by_the_root_of_the_mean_square():
    found = make_norm("rms", 2)(torch.tensor([3.0, 4.0]))
    assert_close(found, torch.tensor([3.0, 4.0]) / 12.5**0.5, atol=1e-6, rtol=0)


def test_layer_norm_has_mean_zero_and_deviation_one():
    found = make_norm("layer", 64)(5.0 + 3.0 * torch.randn(7, 64))
    assert_close(found.mean(dim=-1), torch.zeros(7), atol=1e-5, rtol=0)
    assert_close(found.std(dim=-1, correction=0), torch.ones(7), atol=1e-4, rtol=0)


@pytest.mark.parametrize("position", ["post", "pre"])
def test_a_sublayer_that_gives_nothing_leaves_the_residual(position):
    around = make_residual(position, d_model=8, dropout=0.0, norm="layer")
    states = torch.randn(2, 3, 8)
    expected = around.norm(states) if position == "post" else states
    assert torch.equal(around(states, torch.zeros_like), expected)


@pytest.mark.parametrize(("norm", "kind"), [("layer", nn.LayerNorm), ("rms", nn.RMSNorm)])
@pytest.mark.parametrize(("position", "final_norms"), [("post", 0), ("pre", 2)])
def test_every_norm_is_of_the_kind_asked_for(build_model, position, final_norms, norm, kind):
    model = build_model(norm_position=position, norm=norm)
    norms = [m for m in model.modules() if isinstance(m, nn.LayerNorm | nn.RMSNorm)]
    assert {type(module) for module in norms} == {kind}
    assert len(norms) == 2 * 2 + 2 * 3 + final_norms


def test_the_default_is_the_papers(build_model):
    model = build_model()
    assert model.hyperparameters["norm_position"] == "post"
    assert isinstance(model.encoder.norm, nn.Identity)
    assert isinstance(model.decoder.norm, nn.Identity)


@pytest.mark.parametrize("position", ["post", "pre"])
def test_what_leaves_a_stack_is_normalised_exactly_once(build_model, position):
    model = build_model(norm_position=position)
    for states in (model.encode(SOURCE), model.states(SOURCE, SOURCE)):
        assert_close(states.mean(dim=-1), torch.zeros(1, 4), atol=1e-5, rtol=0)
        assert_close(states.std(dim=-1, correction=0), torch.ones(1, 4), atol=1e-3, rtol=0)
    last = model.encoder.layers[-1].around_feed_forward.norm
    last.weight.data.fill_(3.0)  # a second norm after this one would undo it
    tripled = model.encode(SOURCE).std(dim=-1, correction=0)
    assert_close(tripled, torch.full((1, 4), 3.0 if position == "post" else 1.0), rtol=1e-3, atol=0)
