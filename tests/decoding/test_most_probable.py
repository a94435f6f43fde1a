"""The most probable pieces, found in two stages, are those that a sort of the vocabulary finds."""

import math

import pytest
import torch

from latimer.decoding.most_probable import most_probable


@pytest.mark.parametrize("pieces", [5, 16, 79, 80, 200, 1_000, 1_015])
@pytest.mark.parametrize("count", [1, 4])
def test_the_best_of_a_sort(pieces, count):
    numbers = torch.stack([torch.randperm(pieces) for _ in range(6)]).view(2, 3, pieces).float()
    found, ids = most_probable(numbers, count)
    expected = numbers.sort(dim=-1, descending=True)
    assert torch.equal(found, expected.values[..., :count])
    assert torch.equal(ids, expected.indices[..., :count])


@pytest.mark.parametrize("places", [[0, 50, 100, 150], [7, 8, 9, 199], [196, 197, 198, 199]])
def test_the_best_may_share_a_column_or_stand_at_the_end(places):
    numbers = torch.full((1, 200), -math.inf)
    numbers[0, places] = torch.tensor([4.0, 2.0, 3.0, 1.0])
    found, ids = most_probable(numbers, 4)
    assert found.tolist() == [[4.0, 3.0, 2.0, 1.0]]
    assert ids.tolist() == [[places[0], places[2], places[1], places[3]]]


def test_what_is_no_number_is_not_lost():
    numbers = torch.zeros(1, 200)
    numbers[0, 77] = math.nan
    assert most_probable(numbers, 4)[0].isnan().any()
