"""Rows of every length get their softmax, however many numbers a register holds."""

import pytest
import torch
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from latimer.model.softmax import softmax

LENGTHS = [1, 2, 7, 8, 9, 15, 16, 17, 40]
LOWEST = torch.finfo(torch.float32).min


@pytest.fixture(params=["AVX512", "AVX2", "DEFAULT"], autouse=True)
def instructions(request, monkeypatch):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: request.param)
    return request.param


def random_scores(length):
    """Some of them forbidden, and a row of which all are."""
    torch.manual_seed(length)
    scores = 5 * torch.randn(6, 2, 3, length)
    scores[..., 1:].masked_fill_(torch.rand(length - 1) < 0.3, LOWEST)
    scores[0, 0] = LOWEST
    return scores.requires_grad_()


@pytest.mark.parametrize("length", LENGTHS)
def test_values_and_gradients_are_those_of_the_formula(length):
    scores, factors = random_scores(length), torch.randn(6, 2, 3, length)
    exact = scores.detach().double().requires_grad_()
    exponentials = (exact - exact.detach().amax(-1, keepdim=True)).exp()
    expected = exponentials / exponentials.sum(-1, keepdim=True)
    found = softmax(scores)
    assert found.dtype == torch.float32
    assert found.shape == scores.shape
    assert_close(found.double(), expected, rtol=1e-5, atol=1e-7)
    for result, factor in ((found, factors), (expected, factors.double())):
        (result * factor).sum().backward()
    assert_close(scores.grad.double(), exact.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("length", LENGTHS)
def test_what_is_forbidden_weighs_nothing_and_a_row_of_nothing_else_stays_finite(length):
    scores = random_scores(length)
    found = softmax(scores)
    allowed_somewhere = (scores > LOWEST).any(-1, keepdim=True)
    assert not found[(scores == LOWEST) & allowed_somewhere].any()
    assert_close(found[0, 0], torch.full((3, length), 1 / length))


@pytest.mark.parametrize("length", LENGTHS)
def test_a_row_is_the_same_alone_to_the_last_bit(length):
    scores = random_scores(length).detach()
    together = softmax(scores)
    for index in range(6):
        assert torch.equal(softmax(scores[index]), together[index])


class RowLengths(TorchDispatchMode):
    """Notes the lengths of the rows of which PyTorch makes a softmax."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.overloadpacket is torch.ops.aten._softmax:
            self.seen.add(args[0].shape[-1])
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("length", LENGTHS)
def test_pytorch_gets_no_row_that_is_shorter_than_a_register(length, instructions):
    with RowLengths() as lengths:
        softmax(random_scores(length).detach())
    register = {"AVX512": 16, "AVX2": 8, "DEFAULT": 0}[instructions]
    assert lengths.seen == {max(length, register)}
