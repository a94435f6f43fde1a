"""The weights that are shown are those that the model attends with."""

import pytest
import torch
from model_variants import every_variant
from torch.testing import assert_close

from latimer.model.attention import ScaledDotProductAttention

SOURCE = torch.tensor([[5, 6, 7, 8, 9, 3], [5, 6, 3, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
TARGET = torch.tensor([[2, 11, 12, 13], [2, 21, 22, 0], [2, 31, 0, 0]])


@every_variant
def test_a_matrix_for_every_layer_sentence_and_head(build_model, changes):
    model = build_model(**changes, encoder_layers=3)
    heads = model.hyperparameters["heads"]
    weights = model.attention_weights(SOURCE, TARGET)
    assert weights.encoder.shape == (3, 3, heads, 6, 6)
    assert weights.decoder.shape == (2, 3, heads, 4, 4)
    assert weights.cross.shape == (2, 3, heads, 4, 6)
    assert not any(kind.requires_grad for kind in weights)


def test_rows_sum_to_one_and_forbidden_places_carry_nothing(build_model, on_path):
    weights = on_path(build_model()).attention_weights(SOURCE, TARGET)
    source, target = (SOURCE != 0)[:, None, None], (TARGET != 0)[:, None, None]
    allowed = source, target & torch.ones(4, 4, dtype=torch.bool).tril(), source
    for found, may_attend in zip(weights, allowed, strict=True):
        assert found.masked_select(~may_attend).eq(0).all()
        any_key = may_attend.any(dim=-1).expand(found.shape[:-1]).to(found.dtype)
        tolerance = 1e-5 if found.dtype == torch.float32 else 1e-2
        assert_close(found.sum(dim=-1), any_key, atol=tolerance, rtol=0)


@every_variant
@torch.no_grad()
def test_they_are_what_the_first_layers_attend_with(build_model, changes):
    model = build_model(**changes | {"norm_position": "post"})
    weights = model.attention_weights(SOURCE, TARGET)
    source, target = model.source_embedding(SOURCE), model.target_embedding(TARGET)
    causal = torch.ones(4, 4, dtype=torch.bool).tril() & (TARGET != 0)[:, None, None]
    encoder, decoder = model.encoder.layers[0], model.decoder.layers[0]
    after_target = decoder.around_self_attention(
        target, lambda inner: decoder.self_attention(inner, inner, causal)
    )
    in_source = (SOURCE != 0)[:, None, None]
    for attention, states, memory, mask, found in (
        (encoder.self_attention, source, source, in_source, weights.encoder),
        (decoder.self_attention, target, target, causal, weights.decoder),
        (decoder.cross_attention, after_target, model.encode(SOURCE), in_source, weights.cross),
    ):
        _, values = attention.keys_and_values(memory)
        attended = attention.output((found[0] @ values).transpose(1, 2).flatten(2))
        assert_close(attended, attention(states, memory, mask), atol=1e-5, rtol=0)


def test_looking_changes_nothing_and_ends(build_model):
    model = build_model(positions="learned", max_length=6)
    before = model(SOURCE, TARGET)
    model.attention_weights(SOURCE, TARGET)
    with pytest.raises(ValueError, match="7 pieces"):
        model.attention_weights(torch.full((1, 7), 5), TARGET[:1])
    assert torch.equal(model(SOURCE, TARGET), before)
    attentions = [m for m in model.modules() if isinstance(m, ScaledDotProductAttention)]
    assert len(attentions) == 2 + 2 * 2
    assert not any(attention._forward_hooks for attention in attentions)


def test_a_later_piece_changes_no_row_before_it(build_model):
    model, changed = build_model(), TARGET.clone()
    changed[:, 2:] = 30
    before = model.attention_weights(SOURCE, TARGET)
    after = model.attention_weights(SOURCE, changed)
    assert torch.equal(before.encoder, after.encoder)
    for kind in ("decoder", "cross"):
        assert_close(getattr(before, kind)[..., :2, :], getattr(after, kind)[..., :2, :])


def test_dropout_leaves_the_first_weights_whole(build_model):
    model = build_model(attention_dropout=0.5)
    quiet = model.attention_weights(SOURCE, TARGET)
    in_training = model.train().attention_weights(SOURCE, TARGET)
    assert_close(in_training.encoder[0], quiet.encoder[0])
