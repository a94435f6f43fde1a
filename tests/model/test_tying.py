"""One matrix for embeddings and output, through all that happens to a model (field case 47)."""

import copy
import io

import pytest
import torch
import torch.nn.functional as F

SOURCE = torch.tensor([[5, 6, 7, 3]])
every_tying = pytest.mark.parametrize("tying", ["none", "decoder", "all"])


def train_one_update(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    F.cross_entropy(model(SOURCE, SOURCE).flatten(0, 1), SOURCE.flatten()).backward()
    optimizer.step()
    return model


def save_and_load(model):
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    model.load_state_dict(torch.load(file, weights_only=True))
    return model


LIVES = {
    "build": lambda model: model,
    "to": lambda model: model.to(torch.float64).to("cpu").float(),
    "load": save_and_load,
    "deepcopy": copy.deepcopy,
    "training": train_one_update,
}


@every_tying
@pytest.mark.parametrize("life", LIVES)
def test_tied_matrices_are_one_whatever_happens(build_model, tying, life):
    model = LIVES[life](build_model(tying=tying))
    output = model.output.weight
    source, target = model.source_embedding.pieces.weight, model.target_embedding.pieces.weight
    assert (target.data_ptr() == output.data_ptr()) == (tying != "none")
    assert (source.data_ptr() == output.data_ptr()) == (tying == "all")
    target.data[7] += 1.0
    assert torch.equal(target, output) == (tying != "none")
    assert torch.equal(target, source) == (tying == "all")


def test_every_use_of_a_tied_matrix_gives_gradient(build_model):
    tied, apart = build_model(tying="all"), build_model(tying="none")
    apart.load_state_dict(tied.state_dict())
    for model in (tied, apart):
        model(SOURCE, SOURCE).square().sum().backward()
    total = (
        apart.source_embedding.pieces.weight.grad
        + apart.target_embedding.pieces.weight.grad
        + apart.output.weight.grad
    )
    torch.testing.assert_close(tied.output.weight.grad, total, rtol=1e-4, atol=1e-5)


@every_tying
def test_no_embedding_is_initialised_as_a_projection(build_model, tying):
    # scaled by √D, an embedding is of size 1; Glorot's spread would be another
    model = build_model(tying=tying, source_vocab_size=3000, target_vocab_size=3000)
    for embedding in (model.source_embedding, model.target_embedding):
        assert embedding.pieces.weight.std().item() == pytest.approx(32**-0.5, rel=0.05)


def test_a_shared_matrix_needs_a_shared_vocabulary(build_model):
    with pytest.raises(ValueError, match=r"tying=all .* 40 pieces .* 41"):
        build_model(tying="all", target_vocab_size=41)
    model = build_model(tying="decoder", target_vocab_size=41)
    assert model(SOURCE, SOURCE).shape == (1, 4, 41)


def test_a_state_dict_of_another_tying_is_refused(build_model):
    separate = build_model(tying="none", target_vocab_size=41)
    with pytest.raises(RuntimeError, match="size mismatch"):
        build_model(tying="all").load_state_dict(separate.state_dict())
