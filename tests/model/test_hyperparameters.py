"""What a Transformer can be built from, and what it refuses."""

import pytest
import torch

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
        ({"positions": "rotary"}, "positions: 'rotary'"),
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
        "dropout": 0.1,
        "norm_position": "post",
        "norm": "layer",
        "positions": "sinusoidal",
        "max_length": None,
        "tying": "all",
    }


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"heads": 3, "d_k": 5, "d_v": 7},
        {"encoder_layers": 1, "decoder_layers": 3},
        {"norm_position": "pre", "norm": "rms"},
        {"positions": "learned", "max_length": 7},
        {"tying": "none", "source_vocab_size": 30},
        {"d_model": 33, "heads": 3, "positions": "learned", "max_length": 7},
    ],
    ids=str,
)
def test_a_model_is_rebuilt_from_its_hyperparameters(build_model, changes):
    model = build_model(**changes)
    rebuilt = Transformer(**model.hyperparameters).eval()
    rebuilt.load_state_dict(model.state_dict())
    logits = model(IDS, IDS)
    assert logits.shape == (1, 3, 40)
    assert torch.equal(rebuilt(IDS, IDS), logits)
