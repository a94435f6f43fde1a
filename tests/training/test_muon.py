"""Muon: matrices of layers move along orthogonal matrices, all else by Adam."""

from copy import deepcopy

import pytest
import torch
from torch import nn

from latimer.config.optimizer import MuonConfig
from latimer.model import Transformer
from latimer.training.muon import Muon, orthogonal
from latimer.training.optimizer import make_optimizer

CONFIG = MuonConfig(
    kind="muon", momentum=0.95, weight_decay=0.0, beta1=0.9, beta2=0.98, epsilon=1e-9
)
ADAM = {"lr": 0.1, "betas": (0.9, 0.98), "eps": 1e-9, "fused": True}


def muon(matrices, others=(), momentum=0.95, weight_decay=0.0, products=torch.float32):
    keys = {"momentum": momentum, "weight_decay": weight_decay, "products": products}
    return Muon(list(matrices), list(others), **keys, **ADAM)


def parameters(*shapes):
    torch.manual_seed(1)
    return [nn.Parameter(torch.randn(shape)) for shape in shapes]


def updates(optimizer, moved, gradients):
    for of_one_update in gradients:
        for parameter, gradient in zip(moved, of_one_update, strict=True):
            parameter.grad = gradient.clone()
        optimizer.step()
    return [parameter.detach().clone() for parameter in moved]


def gradients_for(moved, count=3):
    torch.manual_seed(2)
    return [[torch.randn_like(one) for one in moved] for _ in range(count)]


@pytest.mark.parametrize("shape", [(16, 16), (8, 32), (32, 8), (1, 5)])
def test_a_matrix_keeps_its_directions_and_gets_singular_values_of_about_one(shape):
    torch.manual_seed(1)
    size = min(shape)
    left, _ = torch.linalg.qr(torch.randn(shape[0], size))
    right, _ = torch.linalg.qr(torch.randn(shape[1], size))
    matrix = 100 * left @ torch.diag(torch.linspace(0.2, 1.0, size)) @ right.mT
    found = left.mT @ orthogonal(matrix[None])[0] @ right
    values = found.diagonal()
    assert ((values > 0.65) & (values < 1.25)).all()
    torch.testing.assert_close(found, torch.diag(values), atol=1e-4, rtol=0)


@pytest.mark.parametrize("shape", [(16, 16), (8, 32), (32, 8)])
def test_in_bfloat16_a_step_is_nearly_the_same_and_still_float32(shape):
    torch.manual_seed(1)
    matrices = 100 * torch.randn(4, *shape)
    found, exact = orthogonal(matrices, torch.bfloat16), orthogonal(matrices)
    assert found.dtype == torch.float32
    assert not torch.equal(found, exact)
    assert (found - exact).norm() < 0.05 * exact.norm()


def test_every_matrix_is_made_orthogonal_by_itself():
    torch.manual_seed(1)
    matrices = torch.randn(4, 6, 9)
    alone = torch.stack([orthogonal(matrix[None])[0] for matrix in matrices])
    torch.testing.assert_close(orthogonal(matrices), alone)


def test_a_gradient_of_nothing_moves_nothing():
    assert torch.equal(orthogonal(torch.zeros(2, 3, 3)), torch.zeros(2, 3, 3))


@pytest.mark.parametrize("products", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("weight_decay", [0.0, 0.5])
@pytest.mark.parametrize("momentum", [0.0, 0.95])
def test_matrices_move_as_with_the_optimizer_of_torch(momentum, weight_decay, products):
    """Which computes in bfloat16."""
    ours = parameters((8, 8), (8, 16), (16, 8), (8, 8))
    theirs = deepcopy(ours)
    keys = {"momentum": momentum, "weight_decay": weight_decay}
    known = torch.optim.Muon(theirs, lr=0.1, adjust_lr_fn="match_rms_adamw", **keys)
    gradients = gradients_for(ours)
    before = deepcopy(ours)
    found = updates(muon(ours, products=products, **keys), ours, gradients)
    expected = updates(known, theirs, gradients)
    for one, other, start in zip(found, expected, before, strict=True):
        moved = (other - start).norm()
        assert (one - other).norm() < 0.05 * moved


def test_other_parameters_move_as_with_adam():
    moved = parameters((4, 4), (9, 4), (4,))
    alone = deepcopy(moved[1:])
    gradients = gradients_for(moved)
    found = updates(muon(moved[:1], moved[1:]), moved, gradients)
    expected = updates(torch.optim.Adam(alone, **ADAM), alone, [some[1:] for some in gradients])
    assert all(torch.equal(*pair) for pair in zip(found[1:], expected, strict=True))


@pytest.mark.parametrize("shape", [(16, 16), (8, 32), (32, 8)])
def test_a_step_is_a_fifth_of_the_rate_in_size_whatever_the_shape_and_the_gradient(shape):
    """In root mean square, as Adam's steps are, so that one rate serves both."""
    (matrix,) = parameters(shape)
    before = matrix.detach().clone()
    (after,) = updates(muon([matrix]), [matrix], [[1e-4 * torch.randn(shape)]])
    assert (after - before).square().mean().sqrt() == pytest.approx(0.2 * 0.1, rel=0.2)


def test_one_rate_steers_both():
    moved = parameters((4, 4), (4,))
    optimizer = muon(moved[:1], moved[1:])
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    before = deepcopy(moved)
    after = updates(optimizer, moved, gradients_for(moved))
    assert all(torch.equal(*pair) for pair in zip(before, after, strict=True))


def test_a_stored_state_goes_on_bit_for_bit_with_both_and_follows_the_schedule():
    moved = parameters((4, 4), (8, 4), (9, 4), (4,))
    optimizer = muon(moved[:2], moved[2:])
    gradients = gradients_for(moved, 4)
    updates(optimizer, moved, gradients[:2])
    resumed = deepcopy(moved)
    other = muon(resumed[:2], resumed[2:])
    other.load_state_dict(deepcopy(optimizer.state_dict()))
    for group in (*optimizer.param_groups, *other.param_groups):
        group["lr"] = 0.03
    whole = updates(optimizer, moved, gradients[2:])
    parts = updates(other, resumed, gradients[2:])
    assert all(torch.equal(*pair) for pair in zip(whole, parts, strict=True))


def test_what_has_no_gradient_stays():
    moved = parameters((4, 4), (4, 4), (4,))
    before = deepcopy(moved)
    moved[0].grad = torch.ones(4, 4)
    muon(moved[:2], moved[2:]).step()
    assert [torch.equal(*pair) for pair in zip(before, moved, strict=True)] == [False, True, True]


@pytest.mark.parametrize("tying", ["all", "decoder", "none"])
def test_matrices_of_layers_alone_are_made_orthogonal(tying):
    """Embeddings, learned positions, the pre-softmax matrix, norms and biases are Adam's."""
    sizes = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1}
    choices = {"tying": tying, "positions": "learned", "max_length": 5, "norm": "rms"}
    model = Transformer(source_vocab_size=9, target_vocab_size=9, **sizes, **choices)
    optimizer = make_optimizer(model.named_parameters(), CONFIG)
    (group,) = (group for group in optimizer.param_groups if group["muon"])
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    found = {names[id(parameter)] for parameter in group["params"]}
    attention = {f"{part}.weight" for part in ("query", "key", "value", "output")}
    feed_forward = {"feed_forward.inner.weight", "feed_forward.outer.weight"}
    encoder = {f"self_attention.{part}" for part in attention} | feed_forward
    decoder = encoder | {f"cross_attention.{part}" for part in attention}
    expected = {f"encoder.layers.0.{part}" for part in encoder}
    assert found == expected | {f"decoder.layers.0.{part}" for part in decoder}
    assert {id(one) for group in optimizer.param_groups for one in group["params"]} == set(names)
