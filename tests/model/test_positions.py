"""Positions and what enters a stack (sections 3.4 and 3.5, field case 46)."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from latimer.model.embeddings import Embedding
from latimer.model.positions import LearnedPositions, SinusoidalPositions, SinusoidTable, sinusoids


def test_the_values_of_the_paper():
    table = sinusoids(3, 512)
    expected = torch.tensor([0.8414710, 0.5403023, 0.8218562, 0.5696950])
    assert_close(table[1, :4], expected, atol=1e-6, rtol=0)
    assert torch.equal(table[0], torch.tensor([0.0, 1.0]).repeat(256))


@pytest.mark.parametrize(("position", "pair"), [(1, 255), (17, 3), (1100, 100), (5000, 0)])
def test_sine_and_cosine_are_interleaved(position, pair):
    angle = position / 10000 ** (2 * pair / 512)
    sine, cosine = sinusoids(position + 1, 512)[position, 2 * pair : 2 * pair + 2]
    assert sine.item() == pytest.approx(math.sin(angle), abs=1e-6)
    assert cosine.item() == pytest.approx(math.cos(angle), abs=1e-6)


@pytest.mark.parametrize(("first", "length"), [(0, 1), (0, 256), (0, 257), (255, 2), (1099, 1)])
def test_the_table_grows_when_it_must(first, length):
    table = SinusoidTable(8)
    found = table.rows(torch.zeros(2, length, 8), first)
    assert torch.equal(found, sinusoids(first + length, 8)[first:])
    assert torch.equal(table.rows(torch.zeros(2, 3, 8), 0), sinusoids(3, 8))


def test_the_table_follows_the_vectors_and_keeps_its_own_precision():
    positions = SinusoidalPositions(8)
    in_bfloat16 = positions.add(torch.zeros(1, 300, 8, dtype=torch.bfloat16), 0)
    assert in_bfloat16.dtype == torch.bfloat16
    assert torch.equal(positions.add(torch.zeros(1, 300, 8), 0)[0], sinusoids(300, 8))


every_table = pytest.mark.parametrize("kind", ["sinusoidal", "rotary"])


@every_table
def test_sinusoids_add_nothing_to_a_state_dict_or_to_what_processes_exchange(build_model, kind):
    # a grown table must neither stop a checkpoint from loading nor differ between processes
    model = build_model(positions=kind)
    names, untouched = list(model.state_dict()), copy.deepcopy(model)
    model(torch.full((1, 300), 5), torch.full((1, 300), 5))
    assert list(model.state_dict()) == names
    assert list(model.buffers()) == []
    untouched.load_state_dict(model.state_dict())


@every_table
def test_a_table_grown_while_translating_serves_training_afterwards(build_model, kind):
    model, ids = build_model(positions=kind).train(), torch.full((1, 300), 5)
    with torch.inference_mode():
        model(ids, ids)
    model(ids, ids).sum().backward()
    assert model.output.weight.grad.isfinite().all()


@every_table
def test_a_sentence_of_any_length_passes(build_model, kind):
    ids = torch.randint(4, 40, (1, 1100))
    assert build_model(positions=kind)(ids, ids).isfinite().all()


@pytest.mark.parametrize("side", ["source", "target"])
def test_learned_positions_end_where_they_end(build_model, side):
    # field case 49: the limit counts what the model sees, specials included
    model = build_model(positions="learned", max_length=6)
    lengths = {"source": 3, "target": 3}

    def run(length):
        batch = lengths | {side: length}
        return model(torch.full((1, batch["source"]), 5), torch.full((1, batch["target"]), 5))

    assert run(5).shape[0] == 1
    assert run(6).isfinite().all()
    with pytest.raises(ValueError, match=r"7 pieces.*6 learned positions.*model\.max_length"):
        run(7)


def test_learned_positions_are_one_vector_a_position():
    positions = LearnedPositions(8, max_length=5)
    found = positions.add(torch.ones(2, 3, 8), 1)
    assert torch.equal(found, 1.0 + positions.vectors[1:4].expand(2, 3, 8))
    found.sum().backward()
    assert positions.vectors.grad.sum(dim=-1).tolist() == [0.0, 16.0, 16.0, 16.0, 0.0]


@pytest.mark.parametrize("d_model", [4, 512])
def test_embeddings_are_scaled_before_positions_are_added(d_model):
    pieces = nn.Embedding(9, d_model)
    embedding = Embedding(pieces, SinusoidalPositions(d_model), dropout=0.1).eval()
    ids = torch.tensor([[3, 3, 8]])
    expected = pieces.weight[ids] * math.sqrt(d_model) + sinusoids(5, d_model)[2:]
    assert_close(embedding(ids, first=2), expected)


def without_positions(model):
    model.source_embedding.positions.add = lambda vectors, first: vectors
    return model


def test_without_positions_permuted_tokens_give_permuted_outputs(build_model):
    model = without_positions(build_model())
    source, order = torch.tensor([[5, 6, 7, 5, 9]]), torch.tensor([3, 0, 4, 2, 1])
    memory = model.encode(source)
    assert_close(model.encode(source[:, order]), memory[:, order], atol=1e-5, rtol=0)
    assert_close(memory[0, 0], memory[0, 3], atol=1e-5, rtol=0)  # both hold the piece 5


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "rotary"])
def test_with_positions_order_matters(build_model, kind):
    model = build_model(positions=kind, max_length=9 if kind == "learned" else None)
    source, order = torch.tensor([[5, 6, 7, 5, 9]]), torch.tensor([3, 0, 4, 2, 1])
    memory = model.encode(source)
    assert (model.encode(source[:, order]) - memory[:, order]).abs().max() > 1e-2
    assert (memory[0, 0] - memory[0, 3]).abs().max() > 1e-2
