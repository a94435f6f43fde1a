"""The loss without whole logits is the plain one, in value and in both gradients."""

import pytest
import torch
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from latimer.model import Transformer
from latimer.training.loss import (
    ROWS_AT_ONCE,
    ROWS_TOGETHER,
    chunked_cross_entropy,
    smoothed_cross_entropy,
)

WIDTH, VOCABULARY = 24, 50
every_smoothing = pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.3])
every_tying = pytest.mark.parametrize("tying", ["all", "decoder", "none"])


def random_rows(rows, dtype=torch.float32):
    """States, a pre-softmax matrix and labels."""
    torch.manual_seed(1)
    states = torch.randn(rows, WIDTH, dtype=dtype).requires_grad_()
    matrix = torch.randn(VOCABULARY, WIDTH, dtype=dtype).requires_grad_()
    return states, matrix, torch.randint(VOCABULARY, (rows,))


def plain(states, matrix, labels, smoothing):
    return smoothed_cross_entropy(states @ matrix.T, labels, smoothing)


def gradients(loss_of, smoothing, states, matrix, labels, scale=1.0):
    losses = loss_of(states, matrix, labels, smoothing)
    return losses, torch.autograd.grad(losses.loss * scale, [states, matrix])


@every_smoothing
@pytest.mark.parametrize("rows", [1, 7, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE + 3])
def test_value_and_both_gradients_are_those_of_the_plain_loss(smoothing, rows):
    given = random_rows(rows)
    losses, found = gradients(chunked_cross_entropy, smoothing, *given, scale=1 / rows)
    expected, wanted = gradients(plain, smoothing, *given, scale=1 / rows)
    assert_close(losses, expected, rtol=1e-5, atol=1e-4)
    assert_close(found, wanted, rtol=1e-5, atol=1e-6)


def test_the_gradients_equal_finite_differences():
    states, matrix, labels = random_rows(5, torch.float64)
    _, (of_states, of_matrix) = gradients(chunked_cross_entropy, 0.1, states, matrix, labels)
    for changed, gradient in ((states, of_states), (matrix, of_matrix)):
        for index in [(0, 0), (3, 7), (4, WIDTH - 1)]:
            values = []
            for change in (0.01, -0.01):
                with torch.no_grad():
                    changed[index] += change
                    values.append(chunked_cross_entropy(states, matrix, labels, 0.1).loss.item())
                    changed[index] -= change
            difference = (values[0] - values[1]) / 0.02
            assert gradient[index].item() == pytest.approx(difference, abs=2e-3)


@every_smoothing
def test_in_bfloat16_as_near_as_the_plain_loss_is(smoothing):
    states, matrix, labels = random_rows(ROWS_AT_ONCE + 88)
    exact, wanted = gradients(plain, smoothing, states, matrix, labels)
    with torch.autocast("cpu", torch.bfloat16):
        losses, found = gradients(chunked_cross_entropy, smoothing, states, matrix, labels)
        rounded, _ = gradients(plain, smoothing, states, matrix, labels)
    assert losses.loss.dtype == losses.nll.dtype == torch.float32
    assert [gradient.dtype for gradient in found] == [torch.float32, torch.float32]
    assert_close(losses, rounded, rtol=1e-5, atol=1e-3)
    assert_close(losses, exact, rtol=2e-3, atol=0)
    for gradient, near in zip(found, wanted, strict=True):
        assert (gradient - near).norm() < 0.01 * near.norm()


@pytest.mark.parametrize("scale", [0.25, 2 / 371])
def test_the_scale_of_the_loss_is_that_of_the_gradients(scale):
    """The task divides by the pieces of the whole update."""
    given = random_rows(9)
    _, found = gradients(chunked_cross_entropy, 0.1, *given, scale=scale)
    _, whole = gradients(chunked_cross_entropy, 0.1, *given)
    assert_close(found, tuple(gradient * scale for gradient in whole))


def test_no_rows_cost_nothing():
    losses, found = gradients(chunked_cross_entropy, 0.1, *random_rows(0))
    assert losses.loss == losses.nll == 0
    assert [gradient.shape for gradient in found] == [(0, WIDTH), (VOCABULARY, WIDTH)]
    assert not found[1].any()


def test_the_likelihood_carries_no_gradient():
    losses = chunked_cross_entropy(*random_rows(9), 0.1)
    assert losses.loss.requires_grad
    assert not losses.nll.requires_grad


def test_a_gradient_of_the_gradient_is_refused_rather_than_wrong():
    states, matrix, labels = random_rows(3)
    loss = chunked_cross_entropy(states, matrix, labels, 0.1).loss.square()
    (gradient,) = torch.autograd.grad(loss, states, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


@pytest.mark.parametrize("frozen", ["states", "matrix"])
def test_what_is_frozen_gets_no_gradient_and_the_other_keeps_its_own(frozen):
    states, matrix, labels = random_rows(9)
    _, (of_states, of_matrix) = gradients(plain, 0.1, states, matrix, labels)
    fixed, free = (states, matrix) if frozen == "states" else (matrix, states)
    fixed.requires_grad_(False)
    chunked_cross_entropy(states, matrix, labels, 0.1).loss.backward()
    assert fixed.grad is None
    assert_close(free.grad, of_matrix if frozen == "states" else of_states, rtol=1e-5, atol=1e-5)


class Shapes(TorchDispatchMode):
    """Notes the shape of every tensor that is made, and those that are multiplied as matrices."""

    def __init__(self):
        super().__init__()
        self.made = set()
        self.multiplied = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function.overloadpacket is torch.ops.aten.mm:
            self.multiplied.add(tuple(tuple(factor.shape) for factor in args[:2]))
        if isinstance(result, torch.Tensor):
            self.made.add(tuple(result.shape))
        return result


@pytest.mark.parametrize(
    ("without", "of_states", "of_matrix"),
    [(None, True, True), ("grad mode", False, False), ("states", False, True)],
)
def test_a_gradient_that_nobody_needs_takes_no_memory(without, of_states, of_matrix):
    states, matrix, labels = random_rows(2 * ROWS_AT_ONCE)
    if without == "states":
        states.requires_grad_(False)
    with torch.set_grad_enabled(without != "grad mode"), Shapes() as shapes:
        chunked_cross_entropy(states, matrix, labels, 0.1)
    assert (2 * ROWS_AT_ONCE, VOCABULARY) not in shapes.made, "whole logits"
    assert (ROWS_AT_ONCE, VOCABULARY) in shapes.made
    assert ((2 * ROWS_AT_ONCE, WIDTH) in shapes.made) == of_states
    assert ((VOCABULARY, WIDTH) in shapes.made) == of_matrix


def test_few_shapes_of_products_for_all_numbers_of_rows():
    shapes = Shapes()
    for rows in (*range(1, 2 * ROWS_AT_ONCE, 17), 2 * ROWS_AT_ONCE):
        with shapes, torch.autocast("cpu", torch.bfloat16):
            gradients(chunked_cross_entropy, 0.1, *random_rows(rows))
    filled_up = range(ROWS_TOGETHER, ROWS_AT_ONCE + 1, ROWS_TOGETHER)
    assert shapes.multiplied == {
        product
        for rows in filled_up
        for product in (
            ((rows, WIDTH), (WIDTH, VOCABULARY)),
            ((rows, VOCABULARY), (VOCABULARY, WIDTH)),
            ((VOCABULARY, rows), (rows, WIDTH)),
        )
    }


def ragged_ids():
    torch.manual_seed(2)
    ids = torch.randint(4, 20, (8, 9))
    return ids.masked_fill(torch.arange(9) > torch.arange(1, 9).unsqueeze(1), 0)


def model_gradients(tying, loss_of, parts=1):
    """The gradient of every parameter, summed over micro-batches."""
    torch.manual_seed(3)
    sizes = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1}
    vocabularies = {"source_vocab_size": 20, "target_vocab_size": 20}
    model = Transformer(**sizes, **vocabularies, dropout=0.0, tying=tying)
    for ids in ragged_ids().chunk(parts):
        labels = ids[:, 1:]
        states = model.states(ids, ids[:, :-1])[labels != 0]
        losses = loss_of(states, model.output.weight, labels[labels != 0], 0.1)
        (losses.loss * (2 / 36)).backward()
    return {name: parameter.grad for name, parameter in model.named_parameters()}


@every_tying
def test_the_gradient_of_a_whole_model_with_tied_matrices(tying):
    found, wanted = (model_gradients(tying, one) for one in (chunked_cross_entropy, plain))
    assert all(gradient is not None for gradient in found.values())
    assert_close(found, wanted, rtol=1e-4, atol=1e-6)


@every_tying
def test_micro_batches_add_up(tying):  # field case 60
    whole = model_gradients(tying, chunked_cross_entropy)
    assert_close(model_gradients(tying, chunked_cross_entropy, parts=4), whole, atol=1e-5, rtol=0)
