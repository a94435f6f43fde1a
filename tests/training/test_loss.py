"""The loss on numbers known beforehand (section 5.4, field cases 51, 60 and 62)."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from latimer.model import Transformer
from latimer.training.loss import ROWS_AT_ONCE, smoothed_cross_entropy

every_smoothing = pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.3])


def random_rows(rows, dtype=torch.float32, vocabulary=50):
    torch.manual_seed(1)
    logits = (3.0 * torch.randn(rows, vocabulary)).to(dtype).requires_grad_()
    return logits, torch.randint(vocabulary, (rows,))


@every_smoothing
@pytest.mark.parametrize("vocabulary", [2, 8000])
def test_a_uniform_model_scores_the_logarithm_of_v(smoothing, vocabulary):
    losses = smoothed_cross_entropy(torch.zeros(1, vocabulary), torch.tensor([1]), smoothing)
    assert losses.loss.item() == pytest.approx(math.log(vocabulary), abs=1e-5)
    assert losses.nll.item() == pytest.approx(math.log(vocabulary), abs=1e-5)
    assert math.log(8000) == pytest.approx(8.98720, abs=5e-6)


@pytest.mark.parametrize(("vocabulary", "least"), [(8000, 1.22365), (32000, 1.36239)])
def test_the_least_smoothed_loss_that_can_be_reached(vocabulary, least):
    best = torch.full((1, vocabulary), 0.1 / vocabulary)
    best[0, 7] += 0.9
    logits = best.log().requires_grad_()
    loss = smoothed_cross_entropy(logits, torch.tensor([7]), 0.1).loss
    # in float32, the normaliser of so many small terms is good to 6e-5
    assert loss.item() == pytest.approx(least, abs=1e-4)
    loss.backward()
    assert logits.grad.abs().max() < 1e-4


@every_smoothing
@pytest.mark.parametrize("rows", [1, 7, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE + 3])
def test_value_and_gradient_are_those_of_pytorch(smoothing, rows):
    logits, labels = random_rows(rows)
    losses = smoothed_cross_entropy(logits, labels, smoothing)
    expected = F.cross_entropy(logits, labels, reduction="sum", label_smoothing=smoothing)
    assert_close(losses.loss, expected, rtol=1e-5, atol=1e-4)
    assert_close(losses.nll, F.cross_entropy(logits, labels, reduction="sum").detach())
    (gradient,) = torch.autograd.grad(losses.loss / rows, logits)
    (expected_gradient,) = torch.autograd.grad(expected / rows, logits)
    assert_close(gradient, expected_gradient, atol=1e-6, rtol=1e-5)


def test_the_gradient_equals_finite_differences():
    logits, labels = random_rows(3, vocabulary=5)
    smoothed_cross_entropy(logits, labels, 0.1).loss.backward()
    for index in [(0, 0), (1, int(labels[1])), (2, 4)]:
        values = []
        for change in (0.01, -0.01):
            moved = logits.detach().clone()
            moved[index] += change
            values.append(smoothed_cross_entropy(moved, labels, 0.1).loss.item())
        assert logits.grad[index].item() == pytest.approx((values[0] - values[1]) / 0.02, abs=1e-3)


@every_smoothing
def test_bfloat16_logits_are_summed_in_float32(smoothing):
    logits, labels = random_rows(600, torch.bfloat16)
    losses = smoothed_cross_entropy(logits, labels, smoothing)
    expected = F.cross_entropy(logits.float(), labels, reduction="sum", label_smoothing=smoothing)
    assert losses.loss.dtype == losses.nll.dtype == torch.float32
    assert_close(losses.loss, expected, rtol=1e-5, atol=1e-4)
    (gradient,) = torch.autograd.grad(losses.loss, logits)
    (expected_gradient,) = torch.autograd.grad(expected, logits)
    assert gradient.dtype == torch.bfloat16
    assert_close(gradient, expected_gradient)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_logits_are_left_as_they_are(dtype):
    logits, labels = random_rows(5, dtype)
    before = logits.detach().clone()
    smoothed_cross_entropy(logits, labels, 0.1).loss.backward()
    assert torch.equal(logits, before)


def test_large_logits_stay_finite():
    logits = torch.tensor([[1e4, -1e4, 0.0]], requires_grad=True)
    losses = smoothed_cross_entropy(logits, torch.tensor([1]), 0.1)
    losses.loss.backward()
    assert losses.nll.item() == pytest.approx(2e4)
    assert logits.grad.isfinite().all()


def test_the_likelihood_is_not_smoothed_and_carries_no_gradient():
    # field case 62
    logits, labels = random_rows(9)
    smoothed, plain = (smoothed_cross_entropy(logits, labels, e) for e in (0.1, 0.0))
    assert smoothed.nll.item() == plain.nll.item() == pytest.approx(plain.loss.item())
    assert smoothed.loss.item() != pytest.approx(plain.loss.item(), abs=0.01)
    assert not smoothed.nll.requires_grad


def rows_that_cost(nats, rows):
    """Logits of two pieces whose first has a negative log-likelihood of so many nats."""
    return torch.tensor([[0.0, math.log(math.exp(nats) - 1.0)]] * rows)


def test_every_token_weighs_the_same():
    # field cases 60 and 62: 1.2, and neither the mean of means 1.5 nor its perplexity 4.4817
    few, many = rows_that_cost(2.0, rows=2), rows_that_cost(1.0, rows=8)
    sums = [
        smoothed_cross_entropy(rows, torch.zeros(len(rows), dtype=torch.long), 0.1).nll
        for rows in (few, many, torch.cat([few, many]))
    ]
    assert [total.item() for total in sums] == pytest.approx([4.0, 8.0, 12.0], abs=1e-4)
    assert (sums[0] + sums[1]).item() / 10 == pytest.approx(1.2, abs=1e-5)
    assert math.exp(sums[2].item() / 10) == pytest.approx(3.3201, abs=5e-5)


@pytest.fixture
def model():
    torch.manual_seed(1)
    sizes = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1}
    return Transformer(source_vocab_size=20, target_vocab_size=20, dropout=0.0, **sizes)


def loss_per_token(model, source, target, tokens):
    """The loss of real target pieces, divided by the tokens of a whole update."""
    real = target[:, 1:] != 0
    states = model.states(source, target[:, :-1])
    losses = smoothed_cross_entropy(model.logits(states[real]), target[:, 1:][real], 0.1)
    return losses.loss / tokens


def ragged_batch():
    """Eight sentences of one to eight pieces, padded with 0."""
    torch.manual_seed(2)
    ids = torch.randint(4, 20, (8, 9))
    return ids.masked_fill(torch.arange(9) > torch.arange(1, 9).unsqueeze(1), 0)


def test_pad_columns_change_nothing(model):
    # field case 51
    ids = ragged_batch()
    exact = loss_per_token(model, ids, ids, 36)
    wider = loss_per_token(model, F.pad(ids, (0, 3)), F.pad(ids, (0, 3)), 36)
    assert_close(wider, exact, atol=1e-6, rtol=0)


def test_accumulated_gradients_are_those_of_the_whole_batch(model):
    # field case 60: eight sentences at once, or four times two, of unequal lengths
    ids = ragged_batch()
    tokens = int((ids[:, 1:] != 0).sum())
    gradients = []
    for size in (8, 2):
        model.zero_grad()
        for micro_batch in ids.split(size):
            loss_per_token(model, micro_batch, micro_batch, tokens).backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    assert_close(gradients[1], gradients[0], atol=1e-5, rtol=0)
