"""A small Transformer, and the ways in which its attention can be computed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from latimer.model import Transformer
from latimer.model.attention import ScaledDotProductAttention, reference_attention

SMALL = {
    "source_vocab_size": 40,
    "target_vocab_size": 40,
    "d_model": 32,
    "heads": 4,
    "d_ff": 64,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "dropout": 0.0,
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """On a busy machine, threads that wait for each other take longer than these tiny products."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def build_model() -> Callable[..., Transformer]:
    """Builds a small model in evaluation mode, with some hyper-parameters changed."""

    def build(**changes) -> Transformer:
        torch.manual_seed(1)
        return Transformer(**(SMALL | changes)).eval()

    return build


def _spelled_out(_module, query, key, value, may_attend):
    return reference_attention(query, key, value, may_attend)[0]


@pytest.fixture(params=["fused", "unfused", "spelled out", "bfloat16", "autocast"])
def on_path(request, monkeypatch) -> Iterator[Callable[[Transformer], Transformer]]:
    """Puts a model on one of the paths that attention can take, for as long as the test runs."""
    with ExitStack() as stack:
        if request.param == "unfused":
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        if request.param == "spelled out":
            monkeypatch.setattr(ScaledDotProductAttention, "forward", _spelled_out)
        if request.param == "autocast":
            stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
        yield lambda model: model.bfloat16() if request.param == "bfloat16" else model
