"""The departures from the paper that have a key: each kind alone, and many together."""

import pytest

VARIANTS = {
    "paper": {},
    "pre-norm, rms": {"norm_position": "pre", "norm": "rms"},
    "learned": {"positions": "learned", "max_length": 1101},
    "rotary": {"positions": "rotary"},
    "gelu": {"activation": "gelu"},
    "swiglu": {"activation": "swiglu"},
    "inner dropouts": {"attention_dropout": 0.2, "feed_forward_dropout": 0.3},
    "tying decoder": {"tying": "decoder", "source_vocab_size": 50},
    "tying none": {"tying": "none", "source_vocab_size": 50},
    "own widths": {"d_k": 3, "d_v": 5},
    "many": {
        "norm_position": "pre",
        "norm": "rms",
        "positions": "rotary",
        "activation": "swiglu",
        "attention_dropout": 0.2,
        "feed_forward_dropout": 0.3,
        "tying": "none",
        "heads": 3,
        "d_k": 6,
        "d_v": 5,
    },
}
every_variant = pytest.mark.parametrize("changes", VARIANTS.values(), ids=list(VARIANTS))
