"""All random states, in a form that a checkpoint can hold, and untouched by validations."""

import random

import numpy as np
import pytest
import torch

from latimer.checkpoint import read_checkpoint, write_checkpoint
from latimer.training.random_states import UndisturbedByValidation, random_states, restore


def draw():
    """Some of each generator, with the normal that Python and NumPy keep for the next time."""
    return [
        random.random(),
        random.gauss(0, 1),
        float(np.random.random()),
        float(np.random.normal()),
        *torch.rand(3).tolist(),
    ]


@pytest.fixture(autouse=True)
def _as_before():
    states = random_states()
    yield
    restore(states)


@pytest.mark.parametrize("drawn_before", [0, 1, 2])
def test_the_same_numbers_come_again(drawn_before):
    for _ in range(drawn_before):
        draw()
    states = random_states()
    numbers = [draw() for _ in range(3)]
    restore(states)
    assert [draw() for _ in range(3)] == numbers


def test_they_go_through_a_checkpoint(tmp_path):
    draw()
    contents = {"latimer": {"format": 1, "random_states": random_states()}}
    write_checkpoint(contents, tmp_path / "one.ckpt")
    numbers = draw()
    restore(read_checkpoint(tmp_path / "one.ckpt")["latimer"]["random_states"])
    assert draw() == numbers


def test_a_validation_takes_no_random_number_from_the_training():
    callback = UndisturbedByValidation()
    expected = random_states()
    callback.on_validation_start(None, None)
    draw()
    callback.on_validation_end(None, None)
    numbers = draw()
    restore(expected)
    assert draw() == numbers


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_random_state_of_a_gpu():
    states = random_states()
    numbers = torch.rand(3, device="cuda").tolist()
    restore(states)
    assert torch.rand(3, device="cuda").tolist() == numbers
