"""What a Transformer can be built from, and what it refuses."""

import copy
import io
import pickle

import pytest
import torch
from model_variants import every_variant

from latimer.model import Transformer

IDS = torch.tensor([[5, 6, 3]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 3}, "d_model 32 is not divisible by heads 3"),
        ({"heads": 3, "d_k": 4}, "d_model 32 is not divisible by heads 3"),
        ({"heads": 0}, "heads: 0"),
        ({"d_k": 0}, "d_k: 0"),
        ({"d_v": -1}, "d_v: -1"),
        ({"d_ff": 0}, "d_ff: 0"),
        ({"d_model": 0}, "d_model: 0"),
        ({"d_model": 33, "heads": 3}, "d_model 33 is odd"),
        ({"encoder_layers": 0}, "encoder_layers: 0"),
        ({"decoder_layers": -1}, "decoder_layers: -1"),
        ({"target_vocab_size": 0}, "target_vocab_size: 0"),
        ({"dropout": 1.0}, "dropout: 1.0"),
        ({"dropout": -0.1}, "dropout: -0.1"),
        ({"norm_position": "mid"}, "norm_position: 'mid' is not one of post, pre"),
        ({"norm": "batch"}, "norm: 'batch' is not one of layer, rms"),
        ({"attention_dropout": 1.0}, "attention_dropout: 1.0"),
        ({"feed_forward_dropout": -0.1}, "feed_forward_dropout: -0.1"),
        ({"activation": "tanh"}, "activation: 'tanh' is not one of relu, gelu, swiglu"),
        ({"positions": "relative"}, "positions: 'relative' with max_length None"),
        ({"positions": "rotary", "d_k": 3}, "d_k 3 is odd: rotary positions turn pairs"),
        ({"positions": "rotary", "heads": 32}, "d_k 1 is odd"),
        ({"positions": "rotary", "max_length": 9}, "positions: 'rotary' with max_length 9"),
        ({"positions": "learned"}, "positions: 'learned' with max_length None"),
        ({"positions": "learned", "max_length": 0}, "max_length: 0"),
        ({"max_length": 100}, "positions: 'sinusoidal' with max_length 100"),
        ({"tying": "encoder"}, "tying: 'encoder' is not one of none, decoder, all"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(build_model, changes, message):
    with pytest.raises(ValueError, match=message):
        build_model(**changes)


def test_the_defaults_are_the_papers_base_model():
    with torch.device("meta"):
        model = Transformer(source_vocab_size=10, target_vocab_size=10)
    assert model.hyperparameters == {
        "source_vocab_size": 10,
        "target_vocab_size": 10,
        "d_model": 512,
        "heads": 8,
        "d_k": None,
        "d_v": None,
        "d_ff": 2048,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "activation": "relu",
        "dropout": 0.1,
        "attention_dropout": 0.0,
        "feed_forward_dropout": 0.0,
        "norm_position": "post",
        "norm": "layer",
        "positions": "sinusoidal",
        "max_length": None,
        "tying": "all",
    }


@every_variant
def test_a_model_is_rebuilt_from_its_hyperparameters(build_model, changes):
    model, file = build_model(**changes), io.BytesIO()
    torch.save([model.hyperparameters, model.state_dict()], file)
    file.seek(0)
    hyperparameters, weights = torch.load(file, weights_only=True)
    rebuilt = Transformer(**hyperparameters).eval()
    rebuilt.load_state_dict(weights)
    assert torch.equal(rebuilt(IDS, IDS), model(IDS, IDS))


@every_variant
def test_a_copy_is_a_model_of_its_own(build_model, changes):
    model = build_model(**changes)
    before = model(IDS, IDS)
    copies = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    for parameter in model.parameters():
        parameter.data.zero_()
    for other in copies:
        assert torch.equal(other(IDS, IDS), before)


@pytest.mark.parametrize(
    "changes",
    [
        {"heads": 3, "d_k": 5, "d_v": 7},
        {"encoder_layers": 1, "decoder_layers": 3},
        {"d_model": 33, "heads": 3, "positions": "learned", "max_length": 7},
        {"d_model": 33, "heads": 3, "positions": "rotary", "d_k": 2},
        {"positions": "rotary", "heads": 5, "d_k": 2, "d_v": 1},
    ],
    ids=str,
)
def test_odd_sizes_that_go_together(build_model, changes):
    assert build_model(**changes)(IDS, IDS).shape == (1, 3, 40)


PARTS = ["norm.weight", "norm.bias"]
PROJECTIONS = ["query.weight", "key.weight", "value.weight", "output.weight"]
MATRICES = ["inner.weight", "inner.bias", "outer.weight", "outer.bias"]


def layer_names(layer, *attentions):
    names = [f"feed_forward.{name}" for name in MATRICES]
    names += [f"{attention}.{name}" for attention in attentions for name in PROJECTIONS]
    names += [f"around_{part}.{name}" for part in ("feed_forward", *attentions) for name in PARTS]
    return {f"{layer}.layers.0.{name}" for name in names}


def test_the_names_of_the_weights_are_those_of_all_checkpoints(build_model):
    # another name for one of them, and no older checkpoint can be opened
    names = {"output.weight", "source_embedding.pieces.weight", "target_embedding.pieces.weight"}
    names |= layer_names("encoder", "self_attention")
    names |= layer_names("decoder", "self_attention", "cross_attention")
    one_layer = {"encoder_layers": 1, "decoder_layers": 1}
    assert set(build_model(**one_layer).state_dict()) == names
    assert set(build_model(**one_layer, positions="rotary").state_dict()) == names
    assert set(build_model(**one_layer, positions="learned", max_length=9).state_dict()) == {
        *names,
        "source_embedding.positions.vectors",
        "target_embedding.positions.vectors",
    }
