"""Each departure from the paper alone, and many together: it learns, and its masks hold.

That each decodes with the cache, is the same alone and in a batch, and survives saving and loading
is tested beside the paper's own: test_decoder_cache.py, test_batches_and_modes.py and
test_hyperparameters.py.
"""

import pytest
import torch
import torch.nn.functional as F
from model_variants import every_variant
from torch.testing import assert_close

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 5, 3, 0, 0], [7, 7, 6, 3, 0]])
TARGET = torch.tensor([[2, 11, 12, 13], [2, 21, 0, 0], [2, 31, 32, 0]])
LABELS = torch.tensor([[11, 12, 13, 3], [21, 3, 0, 0], [31, 32, 3, 0]])
every_dtype = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)


def loss_of(model):
    logits = model(SOURCE, TARGET).float()
    return F.cross_entropy(logits.flatten(0, 1), LABELS.flatten(), ignore_index=0)


@every_variant
def test_it_learns_three_pairs_and_uses_all_of_its_weights(build_model, changes):
    model = build_model(**changes).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    # With dropouts the draws decide, too: after 40 updates a quarter of all seeds is above 0.3.
    for _ in range(60 if changes.get("attention_dropout") else 40):
        optimizer.zero_grad()
        loss_of(model).backward()
        assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
        optimizer.step()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())
    with torch.no_grad():
        assert loss_of(model.eval()) < 0.3


@every_variant
@every_dtype
@torch.no_grad()
def test_the_future_changes_nothing_before_it(build_model, changes, dtype):
    model, changed = build_model(**changes).to(dtype), TARGET.clone()
    changed[:, 2:] = 30
    before, after = model.states(SOURCE, TARGET), model.states(SOURCE, changed)
    assert_close(before[:, :2], after[:, :2], atol=1e-6, rtol=0)
    assert (before[:, 2:] - after[:, 2:]).abs().max() > 1e-2


@every_variant
@every_dtype
@torch.no_grad()
def test_padding_and_neighbours_change_nothing(build_model, changes, dtype):
    model, others = build_model(**changes).to(dtype), [1, 2]
    before = model.states(SOURCE, TARGET)
    model.source_embedding.pieces.weight[0] = 1e4
    model.target_embedding.pieces.weight[0] = -1e4
    source, target = SOURCE.clone(), TARGET.clone()
    source[0], target[0] = 33, 34
    after = model.states(source, target)
    real = TARGET[others] != 0
    assert_close(before[others][real], after[others][real], atol=1e-6, rtol=0)
    assert (before[0] - after[0]).abs().max() > 1e-2
