"""What is converted for the products of autocast, and how often."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from latimer.model.attention import MultiHeadAttention
from latimer.model.precision import for_products
from latimer.model.residual import make_residual

STATES, MEMORY = torch.randn(2, 5, 8), torch.randn(2, 7, 8)


class Conversions(TorchDispatchMode):
    """Records the shape of all that is converted to bfloat16."""

    def __init__(self):
        super().__init__()
        self.shapes = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten._to_copy.default and kwargs["dtype"] == torch.bfloat16:
            self.shapes.append(tuple(args[0].shape))
        return function(*args, **(kwargs or {}))


def test_without_autocast_nothing_is_converted():
    assert for_products(STATES) is STATES
    with torch.autocast("cpu", torch.bfloat16):
        assert for_products(STATES).dtype == torch.bfloat16
        with torch.autocast("cpu", enabled=False):
            assert for_products(STATES) is STATES


@pytest.mark.parametrize(
    ("memory", "converted"),
    [(STATES, [(2, 5, 8)]), (MEMORY, [(2, 5, 8), (2, 7, 8)])],
    ids=["self-attention", "attention to a memory"],
)
def test_what_several_projections_multiply_is_converted_once(memory, converted):
    attention = MultiHeadAttention(d_model=8, heads=2, d_k=4, d_v=4)
    with torch.autocast("cpu", torch.bfloat16), Conversions() as found:
        attention(STATES, memory, None)
    assert [shape for shape in found.shapes if len(shape) == 3] == converted


@pytest.mark.parametrize("position", ["post", "pre"])
def test_the_sum_around_a_sublayer_stays_in_float32(position):
    around = make_residual(position, d_model=8, dropout=0.0, norm="layer")
    tiny = torch.full_like(STATES, 2.0**-12)
    found = around(STATES, lambda _: tiny.bfloat16())
    # a sum in bfloat16 would lose all of an update so small
    expected = STATES + tiny
    assert torch.equal(found, around.norm(expected) if position == "post" else expected)
    assert found.dtype == torch.float32
