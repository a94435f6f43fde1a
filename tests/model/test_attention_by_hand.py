"""Attention on numbers that a pocket calculator can follow (section 3.2)."""

import math

import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close

from latimer.model.attention import (
    MultiHeadAttention,
    ScaledDotProductAttention,
    reference_attention,
)

attention = ScaledDotProductAttention()


def fused(query, key, value, may_attend):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return attention(query, key, value, may_attend)


def unfused(query, key, value, may_attend):
    with sdpa_kernel(SDPBackend.MATH):
        return attention(query, key, value, may_attend)


def spelled_out(query, key, value, may_attend):
    return reference_attention(query, key, value, may_attend)[0]


every_path = pytest.mark.parametrize("attend", [fused, unfused, spelled_out])
every_dtype = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)


def one_query(raw_scores, values, d_k=1):
    """A query whose products with the keys are ``raw_scores``: shapes (1, 1, 1 or S, d_k)."""
    key = torch.zeros(len(raw_scores), d_k)
    key[:, 0] = torch.tensor(raw_scores)
    query = torch.eye(1, d_k)
    value = torch.tensor(values).unsqueeze(1).repeat(1, d_k)
    return query[None, None], key[None, None], value[None, None]


BY_HAND = [
    ([2.0, 1.0, 0.0], [1.0, 3.0, 5.0], 1, [0.665241, 0.244728, 0.090031], 1.849579),
    ([2.0, 0.0], [10.0, 20.0], 1, [0.880797, 0.119203], 11.192029),
    # "chased" among "the dog chased the ball"; only "dog" holds a value
    (
        [0.0, 2.0, 0.0, 0.0, 2.0],
        [0.0, 1.5, 0.0, 0.0, 0.0],
        4,
        [0.1185, 0.3222, 0.1185, 0.1185, 0.3222],
        0.4834,
    ),
]


@pytest.mark.parametrize(("scores", "values", "d_k", "weights", "attended"), BY_HAND)
def test_weights_and_values_by_hand(scores, values, d_k, weights, attended):
    result, found = reference_attention(*one_query(scores, values, d_k))
    assert_close(found.flatten(), torch.tensor(weights), atol=5e-5, rtol=0)
    assert_close(result[0, 0, 0, 0], torch.tensor(attended), atol=1e-4, rtol=0)


@every_path
@pytest.mark.parametrize(("scores", "values", "d_k", "weights", "attended"), BY_HAND)
def test_every_path_gives_the_value_by_hand(attend, scores, values, d_k, weights, attended):
    result = attend(*one_query(scores, values, d_k), None)
    assert_close(result[0, 0, 0, 0], torch.tensor(attended), atol=1e-4, rtol=0)


@every_path
@every_dtype
def test_a_masked_future_value_weighs_nothing_and_takes_nothing_away(attend, dtype):
    query, key, value = one_query([2.0, 1.0, 0.0, 9.0], [1.0, 3.0, 5.0, 1e4])
    query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
    may_attend = torch.tensor([True, True, True, False]).expand(1, 1, 1, 4)
    tolerance = 2e-6 if dtype == torch.float32 else 1e-2
    # A mask applied after the softmax would leave the four weights' sum short of one.
    assert abs(attend(query, key, value, may_attend).item() - 1.849579) < tolerance
    weights = reference_attention(query, key, value, may_attend)[1].flatten()
    assert weights[3] == 0.0
    assert abs(weights.sum().item() - 1.0) < tolerance


@every_dtype
def test_no_score_is_low_enough_to_lose_against_a_masked_one(dtype):
    # field case 38: a fill value of -10⁴ would win here
    query, key, value = one_query([-1e6, 1.0], [7.0, 9.0])
    may_attend = torch.tensor([True, False]).expand(1, 1, 1, 2)
    attended, weights = reference_attention(
        query.to(dtype), key.to(dtype), value.to(dtype), may_attend
    )
    assert attended.item() == 7.0
    assert weights.flatten().tolist() == [1.0, 0.0]


@every_path
@every_dtype
def test_a_query_without_a_key_gets_zeros_and_finite_gradients(attend, dtype):
    # field case 40
    torch.manual_seed(1)
    query, key, value = (
        torch.randn(2, 2, 3, 4).to(dtype).requires_grad_(),
        torch.randn(2, 2, 5, 4).to(dtype).requires_grad_(),
        torch.randn(2, 2, 5, 4).to(dtype).requires_grad_(),
    )
    may_attend = torch.ones(2, 1, 3, 5, dtype=torch.bool)
    may_attend[0, :, 1] = False  # one row
    may_attend[1] = False  # a whole sentence
    attended = attend(query, key, value, may_attend)
    assert attended[0, :, 1].eq(0).all()
    assert attended[1].eq(0).all()
    assert attended[0, :, [0, 2]].ne(0).all()
    attended.square().sum().backward()
    for tensor in (query, key, value):
        assert tensor.grad.isfinite().all()
        assert tensor.grad[1].eq(0).all()


def test_no_kernel_is_ever_asked_about_a_query_without_a_key(monkeypatch):
    # field case 40: what a kernel answers there, and its gradient, differs by device and release
    def kernel_with_nan(query, key, value, attn_mask, dropout_p):
        scores = (query @ key.transpose(-2, -1)).masked_fill(~attn_mask, -math.inf)
        return scores.softmax(dim=-1) @ value

    monkeypatch.setattr("torch.nn.functional.scaled_dot_product_attention", kernel_with_nan)
    query = torch.randn(1, 1, 2, 4, requires_grad=True)
    may_attend = torch.tensor([[True, False], [False, False]])[None, None]
    attended = attention(query, query, query, may_attend)
    attended.sum().backward()
    assert attended[0, 0, 1].eq(0).all()
    assert query.grad.isfinite().all()


@every_path
@every_dtype
def test_every_path_agrees_with_the_spelled_out_one(attend, dtype):
    torch.manual_seed(2)
    query, key, value = (torch.randn(3, 2, 7, 8) for _ in range(3))
    may_attend = torch.rand(3, 1, 7, 7) < 0.6
    expected, weights = reference_attention(query, key, value, may_attend)
    attended = attend(query.to(dtype), key.to(dtype), value.to(dtype), may_attend)
    tolerance = 1e-5 if dtype == torch.float32 else 4e-2
    assert_close(attended.float(), expected, atol=tolerance, rtol=0)
    rows_with_a_key = may_attend.any(dim=-1).expand(3, 2, 7).float()
    assert_close(weights.sum(dim=-1), rows_with_a_key, atol=1e-6, rtol=0)
    assert weights.masked_select(~may_attend).eq(0).all()


def single_head(module: MultiHeadAttention, head: int, states, memory, may_attend):
    """One head alone, on its slices of the projections; the scale is √d_k and not √D."""

    def project(linear: nn.Linear, inputs):
        width = linear.out_features // module.heads
        return inputs @ linear.weight[head * width : (head + 1) * width].T

    query, key = project(module.query, states), project(module.key, memory)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(~may_attend, -math.inf).softmax(dim=-1)
    return weights @ project(module.value, memory)


@pytest.mark.parametrize(("heads", "d_k", "d_v"), [(1, 12, 12), (3, 4, 4), (3, 2, 5), (4, 7, 1)])
def test_heads_at_once_equal_heads_one_by_one(heads, d_k, d_v):
    torch.manual_seed(3)
    module = MultiHeadAttention(d_model=12, heads=heads, d_k=d_k, d_v=d_v)
    states, memory = torch.randn(2, 5, 12), torch.randn(2, 6, 12)
    may_attend = (torch.rand(2, 5, 6) < 0.7).index_fill(2, torch.tensor([0]), True)
    one_by_one = [single_head(module, h, states, memory, may_attend) for h in range(heads)]
    expected = torch.cat(one_by_one, dim=-1) @ module.output.weight.T
    assert_close(module(states, memory, may_attend.unsqueeze(1)), expected, atol=1e-5, rtol=0)


def test_analytic_gradients_equal_finite_differences():
    torch.manual_seed(4)
    module = MultiHeadAttention(d_model=6, heads=2, d_k=3, d_v=2).double()
    states = torch.randn(2, 3, 6, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(2, 4, 6, dtype=torch.float64, requires_grad=True)
    may_attend = torch.rand(2, 1, 3, 4) < 0.6
    may_attend[0, :, 0] = False
    assert torch.autograd.gradcheck(lambda s, m: module(s, m, may_attend), (states, memory))
    assert torch.autograd.gradcheck(
        lambda s: spelled_out(s, s, s, may_attend[:, 0, :, :3]), (states,)
    )
