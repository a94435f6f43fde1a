"""Logits depend on the sentence alone, and not on its neighbours, padding or the mode."""

import pytest
import torch
import torch.nn.functional as F
from model_variants import VARIANTS, every_variant
from torch.testing import assert_close

WITHOUT_DROPOUT = {"attention_dropout": 0.0, "feed_forward_dropout": 0.0}
SHORT_SOURCE, SHORT_TARGET = torch.tensor([[5, 6, 3]]), torch.tensor([[2, 11, 12]])


def padded(ids, length, left=0):
    return F.pad(ids, (left, length - left - ids.shape[1]))


def with_neighbour(ids, length):
    return torch.cat([padded(ids, length), torch.randint(4, 40, (1, length))])


@every_variant
@torch.no_grad()
def test_alone_and_beside_a_long_sentence(build_model, changes):
    # field case 43
    model = build_model(**changes)
    source, target = with_neighbour(SHORT_SOURCE, 40), with_neighbour(SHORT_TARGET, 37)
    memory, logits = model.encode(source), model(source, target)
    assert_close(memory[:1, :3], model.encode(SHORT_SOURCE), atol=1e-5, rtol=0)
    assert_close(logits[:1, :3], model(SHORT_SOURCE, SHORT_TARGET), atol=1e-5, rtol=0)


@pytest.mark.parametrize("variant", ["paper", "learned", "many"])
@pytest.mark.parametrize("length", [1, 17, 1100])
@torch.no_grad()
def test_training_and_evaluation_agree_without_dropout(build_model, variant, length):
    # field case 44: the last column is padding in every row
    model = build_model(**VARIANTS[variant] | WITHOUT_DROPOUT)
    source = padded(torch.randint(4, 40, (2, length)), length + 1)
    source[1, length // 2 + 1 :] = 0
    in_training, in_evaluation = model.train()(source, source), model.eval()(source, source)
    assert in_training.shape == (2, length + 1, 40)
    assert_close(in_training, in_evaluation, atol=1e-5, rtol=0)


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
def test_a_blank_source_and_mixed_padding_stay_finite(build_model, on_path, training):
    # field cases 39 and 40
    model = on_path(build_model(dropout=0.1)).train(training)
    source = torch.cat(
        [padded(SHORT_SOURCE, 5), padded(SHORT_SOURCE, 5, left=2), torch.zeros(1, 5)]
    )
    target = torch.cat(
        [padded(SHORT_TARGET, 4), padded(SHORT_TARGET, 4, left=1), torch.zeros(1, 4)]
    )
    logits = model(source.long(), target.long())
    assert logits.isfinite().all()
    F.cross_entropy(logits.flatten(0, 1).float(), target.long().flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name


@torch.no_grad()
def test_a_blank_neighbour_changes_nothing(build_model, on_path):
    # field case 40: the batch of "red boat" and a blank line
    model = on_path(build_model())
    alone = model(SHORT_SOURCE, SHORT_TARGET)
    source, target = padded(SHORT_SOURCE, 5).repeat(2, 1), SHORT_TARGET.repeat(2, 1)
    source[1] = 0
    tolerance = 1e-5 if alone.dtype == torch.float32 else 0.05
    assert_close(model(source, target)[:1], alone, atol=tolerance, rtol=0)


@every_variant
@torch.no_grad()
def test_bfloat16_stays_near_float32(build_model, changes):
    source, target = torch.randint(4, 40, (2, 12)), torch.randint(4, 40, (2, 9))
    exact = build_model(**changes)(source, target)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = build_model(**changes)(source, target)
    plain = build_model(**changes).bfloat16()(source, target)
    for rounded in (mixed, plain):
        assert rounded.dtype == torch.bfloat16
        assert (rounded.float() - exact).abs().mean() < 0.03 * exact.std()
