"""Toy models and batches for the benchmarks' own tests."""

import pytest

from benchmarks.workloads import configuration
from latimer.data.encoded import EncodedPairs

SIZES = ("model=tiny", "model.d_model=16", "model.d_ff=24", "model.heads=2")


@pytest.fixture
def model_config():
    """4 + 3 layers, so that encoder and decoder can be told apart."""
    return configuration([*SIZES, "model.decoder_layers=3"]).model


@pytest.fixture
def pairs():
    """Six pairs of two to seven pieces."""
    ids = [[4 + (row + place) % 20 for place in range(2 + row)] for row in range(6)]
    return EncodedPairs.from_ids(ids, ids[::-1])


@pytest.fixture
def even_pairs():
    """Three pairs of five and seven pieces: no padding."""
    return EncodedPairs.from_ids([[4, 5, 6, 7, 8]] * 3, [[9, 8, 7, 6, 5, 4, 4]] * 3)
