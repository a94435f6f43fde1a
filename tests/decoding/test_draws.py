"""Which pieces are drawn from, with which weights, and how random the random numbers are."""

import numpy as np
import pytest
import torch

from latimer.decoding import SamplingSettings
from latimer.decoding.draws import draw, streams, to_draw_from, uniform

PROBABILITIES = torch.tensor([0.05, 0.5, 0.0, 0.3, 0.15])


def shares(probabilities=PROBABILITIES, **settings):
    """The probability of each piece of being drawn."""
    weights = to_draw_from(probabilities.log(), SamplingSettings(**settings))
    return weights / weights.sum()


def test_without_filters_the_model_s_own_probabilities_are_drawn_from():
    assert torch.allclose(shares(), PROBABILITIES)


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_the_temperature_is_a_power_of_the_probabilities(temperature):
    powers = PROBABILITIES ** (1 / temperature)
    assert torch.allclose(shares(temperature=temperature), powers / powers.sum())


@pytest.mark.parametrize("temperature", [1e-3, 1e-300])
def test_a_temperature_near_zero_leaves_the_most_probable_piece_alone(temperature):
    assert shares(temperature=temperature).tolist() == [0, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("top_k", "kept"), [(1, [1]), (2, [1, 3]), (3, [1, 3, 4]), (4, [0, 1, 3, 4]), (9, [0, 1, 3, 4])]
)
def test_top_k_keeps_the_most_probable(top_k, kept):
    found = shares(top_k=top_k)
    assert found.nonzero().flatten().tolist() == kept
    assert torch.allclose(found[kept], PROBABILITIES[kept] / PROBABILITIES[kept].sum())


@pytest.mark.parametrize(
    ("top_p", "kept"),
    [
        (0.01, [1]),
        (0.5, [1]),
        (0.51, [1, 3]),
        (0.8, [1, 3]),
        (0.81, [1, 3, 4]),
        (0.95, [1, 3, 4]),
        (0.96, [0, 1, 3, 4]),
    ],
)
def test_top_p_keeps_the_smallest_set_that_reaches_it(top_p, kept):
    found = shares(top_p=top_p)
    assert found.nonzero().flatten().tolist() == kept
    assert torch.allclose(found[kept], PROBABILITIES[kept] / PROBABILITIES[kept].sum())


def test_top_p_is_a_share_of_what_top_k_has_left():
    assert shares(top_k=2, top_p=0.6).nonzero().flatten().tolist() == [1]  # 0.5 of 0.8
    assert shares(top_k=2, top_p=0.63).nonzero().flatten().tolist() == [1, 3]


@pytest.mark.parametrize("top_p", [0.1, 0.5, 0.9, 0.99, 0.998])
def test_top_p_of_a_large_vocabulary(top_p):
    logits = torch.randn(6, 3, 2000, generator=torch.Generator().manual_seed(1)) * 2
    weights = to_draw_from(logits.log_softmax(-1), SamplingSettings(top_p=top_p))
    for row, kept in zip(
        logits.flatten(0, 1).double().softmax(-1), weights.flatten(0, 1), strict=True
    ):
        best = row.sort(descending=True)
        count = len(kept.nonzero())
        assert set(kept.nonzero().flatten().tolist()) == set(best.indices[:count].tolist())
        mass = best.values.cumsum(0)
        assert mass[count - 1] > top_p - 1e-5
        assert count == 1 or mass[count - 2] < top_p + 1e-5


def test_a_number_falls_on_the_piece_in_whose_share_it_lies():
    numbers = np.array([[0.0, 0.049, 0.051, 0.54, 0.56, 0.84, 0.86, 1 - 2**-52]])
    weights = 3 * PROBABILITIES.expand(1, numbers.size, -1)
    assert draw(weights, numbers).tolist() == [[0, 0, 1, 1, 3, 3, 4, 4]]


def test_no_number_falls_on_a_piece_that_takes_no_part():
    weights = torch.tensor([0.0, 0.0, 0.7, 0.0, 0.3, 0.0]).expand(1, 2, -1)
    assert draw(weights, np.array([[0.0, 1 - 2**-52]])).tolist() == [[2, 4]]


def test_random_numbers_are_even_and_independent_of_each_other():
    starts = streams([[5, 3], [6, 3], [5, 6, 3], [7, 3]], samples=50, seed=1)
    numbers = np.stack([uniform(starts, step) for step in range(50)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert len(np.unique(numbers)) == numbers.size == 10_000
    counts = np.histogram(numbers, bins=20, range=(0, 1))[0]
    assert ((counts - 500) ** 2 / 500).sum() < 45  # chi-square of 19: p = 0.0007
    centred = numbers - 0.5
    for axis in range(3):  # steps, sentences, samples
        neighbours = (centred * np.roll(centred, 1, axis)).mean() * 12
        assert abs(neighbours) < 0.04  # four standard deviations


def test_random_numbers_belong_to_a_sentence_a_sample_and_a_step():
    starts = streams([[5, 3], [6, 3]], samples=4, seed=1)
    assert (streams([[6, 3]], samples=2, seed=1) == starts[1:, :2]).all()
    assert not (streams([[6, 3]], samples=2, seed=2) == starts[1:, :2]).any()
    assert not (uniform(starts, 0) == uniform(starts, 1)).any()
