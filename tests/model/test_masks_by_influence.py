"""Change what must not matter, and demand that nothing else moves (field cases 37, 38, 43).

That rows of weights sum to one proves nothing. Each check here runs on every path that attention
can take, in training mode with dropout as well, and with queries so large that a score could beat
a fill value that is merely low.
"""

import pytest
import torch
from model_variants import VARIANTS
from torch.testing import assert_close

SOURCE = torch.tensor([[5, 6, 7, 8, 9, 3], [5, 6, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 11, 12, 13, 14, 15, 16, 17], [2, 21, 22, 23, 24, 25, 0, 0]])
MIXED_PADDING = torch.tensor([[0, 0, 2, 11, 0, 12], [2, 11, 12, 0, 0, 0]])


@pytest.fixture(params=["paper", "many"])
def changes(request):
    """All departures together; one by one, test_variants.py has them on two of the paths."""
    return VARIANTS[request.param]


@pytest.fixture(params=[1, 1000], ids=["queries as they are", "queries × 1000"])
def model(request, changes, build_model, on_path):
    model = build_model(**{"dropout": 0.2, **changes})
    for name, parameter in model.named_parameters():
        if name.endswith("query.weight"):
            parameter.data *= request.param
    return on_path(model)


@pytest.fixture(params=[False, True], ids=["eval", "train"])
def states(request, model):
    """The decoder's states, with the same elements dropped in each call."""

    @torch.no_grad()
    def compute(source, target):
        torch.manual_seed(7)
        return model.train(request.param).states(source, target).float()

    return compute


def assert_same(before, after):
    assert before.isfinite().all()
    assert_close(before, after, atol=1e-6, rtol=0)


@pytest.mark.parametrize("position", [1, 5, 7])
def test_a_future_token_changes_nothing_before_it(states, position):
    changed = TARGET.clone()
    changed[:, position:] = 30
    before, after = states(SOURCE, TARGET), states(SOURCE, changed)
    assert_same(before[:, :position], after[:, :position])
    assert not torch.equal(before[:, position:], after[:, position:])


def test_the_past_and_the_source_do_matter(build_model):
    model = build_model()
    before = model.states(SOURCE, TARGET)
    for changed in (
        model.states(SOURCE, TARGET.index_fill(1, torch.tensor([1]), 30)),
        model.states(SOURCE.index_fill(1, torch.tensor([1]), 30), TARGET),
    ):
        difference = (before - changed).abs().amax(dim=-1)
        assert (difference[:, 1:6] > 1e-4).all()


@pytest.mark.parametrize("padded", ["source", "target", "both"])
def test_what_lies_in_a_padded_slot_changes_nothing_real(states, model, padded):
    source = SOURCE if padded == "target" else MIXED_PADDING
    target = TARGET[:, :6] if padded == "source" else MIXED_PADDING
    before = states(source, target)
    model.source_embedding.pieces.weight.data[0] = 1e4
    model.target_embedding.pieces.weight.data[0] = -1e4
    after = states(source, target)
    assert_same(before[target != 0], after[target != 0])


def test_a_padded_memory_changes_nothing(model):
    memory, may_attend = model.encode(SOURCE), (SOURCE != 0)[:, None, None, :]
    real = (SOURCE != 0).unsqueeze(-1)
    spoilt = torch.where(real, memory, torch.full_like(memory, 1e4))
    inputs = model.target_embedding(TARGET)
    causal = torch.ones(8, 8, dtype=torch.bool).tril()
    before = model.decoder(inputs, memory, causal, may_attend)
    assert_same(before.float(), model.decoder(inputs, spoilt, causal, may_attend).float())


def test_another_sentence_of_the_batch_changes_nothing(states):
    # field case 43
    other_source, other_target = SOURCE.clone(), TARGET.clone()
    other_source[1] = torch.tensor([31, 32, 33, 34, 35, 3])
    other_target[1] = 36
    before, after = states(SOURCE, TARGET), states(other_source, other_target)
    assert_same(before[0], after[0])
    assert not torch.equal(before[1], after[1])
