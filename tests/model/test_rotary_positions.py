"""Rotary positions: queries and keys are turned, and nothing else is touched."""

import math

import pytest
import torch
from torch.testing import assert_close

from latimer.model.positions import RotaryPositions

SOURCE = torch.tensor([[5, 6, 7, 5, 3]])


def test_pairs_are_turned_by_the_angles_of_the_sinusoids():
    # width 4: the pairs turn by p and by p / 10000^(2/4) = p / 100
    ones, p = torch.tensor([1.0, 0.0, 1.0, 0.0]).view(1, 1, 1, 4), 3
    expected = [math.cos(p), math.sin(p), math.cos(p / 100), math.sin(p / 100)]
    assert_close(RotaryPositions(4).rotate(ones, first=p).flatten(), torch.tensor(expected))


def test_the_first_position_turns_nothing_and_none_changes_a_length():
    projected = torch.randn(2, 3, 40, 6)
    turned = RotaryPositions(6).rotate(projected, first=0)
    assert torch.equal(turned[:, :, 0], projected[:, :, 0])
    assert_close(turned.norm(dim=-1), projected.norm(dim=-1))


@pytest.mark.parametrize("distance", [0, 1, 7, 300])
def test_a_product_depends_on_the_distance_alone(distance):
    query, key = torch.randn(2, 1, 1, 1, 8)
    rotate = RotaryPositions(8).rotate
    products = [
        (rotate(query, first=p + distance) * rotate(key, first=p)).sum() for p in (0, 1, 50, 1000)
    ]
    assert_close(torch.stack(products), products[0].expand(4), atol=1e-4, rtol=0)


def test_a_later_part_is_turned_as_in_the_whole():
    projected, rotate = torch.randn(2, 3, 9, 4), RotaryPositions(4).rotate
    assert torch.equal(rotate(projected[:, :, 5:], first=5), rotate(projected, first=0)[:, :, 5:])


def test_bfloat16_is_turned_in_float32_and_given_back():
    projected, rotate = torch.randn(1, 2, 500, 8).bfloat16(), RotaryPositions(8).rotate
    turned = rotate(projected, first=0)
    assert torch.equal(turned, rotate(projected.float(), first=0).bfloat16())


def test_nothing_is_added_to_the_embeddings(build_model):
    embedding = build_model(positions="rotary").source_embedding
    assert torch.equal(embedding(SOURCE, first=4), embedding.pieces(SOURCE) * math.sqrt(32))


def test_cross_attention_turns_nothing(build_model):
    rotary, sinusoidal = build_model(positions="rotary"), build_model()
    rotary.load_state_dict(sinusoidal.state_dict())
    states, memory = torch.randn(1, 5, 32), torch.randn(1, 6, 32)
    turned, plain = rotary.decoder.layers[0], sinusoidal.decoder.layers[0]
    crossed = [layer.cross_attention(states, memory, None) for layer in (turned, plain)]
    assert torch.equal(*crossed)
    for stack in ("encoder", "decoder"):
        layers = [getattr(model, stack).layers[0] for model in (rotary, sinusoidal)]
        looked = [layer.self_attention(states, states, None) for layer in layers]
        assert (looked[0] - looked[1]).abs().max() > 1e-2


@torch.no_grad()
def test_it_does_not_matter_where_a_sentence_begins(build_model):
    # what sinusoids cannot do: padding on the left changes nothing
    for kind in ("rotary", "sinusoidal"):
        model = build_model(positions=kind)
        pushed = model.encode(torch.cat([torch.zeros(1, 3).long(), SOURCE], dim=1))[:, 3:]
        same = torch.allclose(pushed, model.encode(SOURCE), atol=1e-5, rtol=0)
        assert same == (kind == "rotary")


@torch.no_grad()
def test_the_decoder_knows_the_order_too(build_model):
    model = build_model(positions="rotary", decoder_layers=1)
    target, order = torch.tensor([[5, 6, 7, 9]]), torch.tensor([1, 2, 0, 3])
    last, of_another_order = (model.states(SOURCE, ids)[0, 3] for ids in (target, target[:, order]))
    assert (last - of_another_order).abs().max() > 1e-3
    model.decoder.layers[0].self_attention.rotate = lambda projected, first: projected
    last, of_another_order = (model.states(SOURCE, ids)[0, 3] for ids in (target, target[:, order]))
    assert_close(last, of_another_order, atol=1e-5, rtol=0)
