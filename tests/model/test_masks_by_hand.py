"""Every kind of mask on three tokens, with the expected weights written out (field case 42)."""

import pytest
import torch
from torch.testing import assert_close

from latimer.model.attention import reference_attention
from latimer.model.masks import causal_mask, padding_mask

A, B, C, PAD = 5, 6, 7, 0
THIRD = 1 / 3


def weights_of_equal_scores(may_attend, queries=3):
    """With a query of zeros all scores are equal: what is left is the mask."""
    zeros = torch.zeros(1, 1, queries, 2)
    keys = torch.randn(1, 1, 3, 2)
    return reference_attention(zeros, keys, keys, may_attend)[1][0, 0]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ([A, B, C], [THIRD, THIRD, THIRD]),
        ([A, B, PAD], [0.5, 0.5, 0.0]),
        ([PAD, A, B], [0.0, 0.5, 0.5]),
        ([A, PAD, B], [0.5, 0.0, 0.5]),
        ([A, PAD, PAD], [1.0, 0.0, 0.0]),
        ([PAD, PAD, PAD], [0.0, 0.0, 0.0]),
    ],
)
@pytest.mark.parametrize("queries", [1, 3], ids=["across", "self"])
def test_source_padding(source, expected, queries):
    weights = weights_of_equal_scores(padding_mask(torch.tensor([source])), queries)
    assert_close(weights, torch.tensor([expected] * queries))


def test_causal():
    expected = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [THIRD, THIRD, THIRD]]
    assert_close(weights_of_equal_scores(causal_mask(3)), torch.tensor(expected))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ([A, B, PAD], [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]),
        ([PAD, A, B], [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]),
    ],
)
def test_target_padding_and_causal(target, expected):
    may_attend = padding_mask(torch.tensor([target])) & causal_mask(3)
    assert_close(weights_of_equal_scores(may_attend), torch.tensor(expected))
