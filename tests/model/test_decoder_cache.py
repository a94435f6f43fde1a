"""Step by step with a cache gives the logits of the whole prefix at once."""

import torch
from model_variants import every_variant
from torch.testing import assert_close

from latimer.model.cache import BLOCK, PastCache

B, K = 3, 4
SOURCE = torch.tensor([[5, 6, 7, 8, 3], [5, 6, 3, 0, 0], [9, 3, 0, 0, 0]])


def whole(model, source, prefixes):
    """Logits after prefixes (B, K, t), computed without a cache: (B, K, V)."""
    beams = prefixes.shape[1]
    logits = model(source.repeat_interleave(beams, 0), prefixes.flatten(0, 1))
    return logits[:, -1].unflatten(0, (-1, beams))


def assert_same(found, expected):
    assert_close(found, expected, atol=1e-5, rtol=0)


@every_variant
@torch.no_grad()
def test_one_beam(build_model, changes):
    model = build_model(**changes)
    target = torch.randint(4, 40, (B, 8))
    cache = model.start(SOURCE)
    steps = [model.step(target[:, t : t + 1], cache) for t in range(8)]
    assert_same(torch.cat(steps, dim=1), model(SOURCE, target))
    assert cache.length == 8


@every_variant
@torch.no_grad()
def test_beams_that_branch_change_places_and_end(build_model, changes):
    torch.manual_seed(5)
    model = build_model(**changes)
    source, cache = SOURCE, model.start(SOURCE)
    prefixes = torch.full((B, 1, 1), 2)
    assert_same(model.step(prefixes[:, :, -1], cache), whole(model, source, prefixes))
    for step in range(6):
        parents = torch.randint(prefixes.shape[1], (len(source), K))
        cache.reorder_beams(parents)
        kept = prefixes.gather(1, parents.unsqueeze(-1).expand(-1, -1, prefixes.shape[2]))
        newest = torch.randint(4, 40, (len(source), K, 1))
        prefixes = torch.cat([kept, newest], dim=-1)
        if step in (2, 4):  # the first sentence is finished, then another one
            going_on = torch.tensor([2, 1] if step == 2 else [1])
            cache.keep_sentences(going_on)
            source, prefixes = source[going_on], prefixes[going_on]
        assert_same(model.step(prefixes[:, :, -1], cache), whole(model, source, prefixes))


@torch.no_grad()
def test_several_beams_from_the_first_step_on(build_model):
    model, prefixes = build_model(), torch.randint(4, 40, (B, K, 2))
    cache = model.start(SOURCE)
    model.step(prefixes[:, :, 0], cache)
    parents = torch.tensor([[3, 2, 1, 0]] * B)
    cache.reorder_beams(parents)
    logits = model.step(prefixes[:, :, 1], cache)
    turned = torch.stack([prefixes[:, :, 0].flip(1), prefixes[:, :, 1]], dim=-1)
    assert_same(logits, whole(model, SOURCE, turned))


@torch.no_grad()
def test_sentences_may_leave_before_the_first_step(build_model):
    model, cache = build_model(), None
    cache = model.start(SOURCE)
    cache.keep_sentences(torch.tensor([2, 0]))
    first = torch.full((2, 1), 2)
    assert_same(model.step(first, cache), model(SOURCE[[2, 0]], first))


@torch.no_grad()
def test_a_blank_source_gives_finite_logits_and_disturbs_nobody(build_model):
    # field case 40
    model, first = build_model(), torch.full((2, 1), 2)
    source = torch.tensor([[5, 6, 3], [0, 0, 0]])
    logits = model.step(first, model.start(source))
    assert logits.isfinite().all()
    assert_same(logits[:1], model(source[:1], first[:1]))


@torch.no_grad()
def test_the_source_is_projected_once_a_sentence_and_never_repeated(build_model):
    model = build_model()
    cache = model.start(SOURCE)
    model.step(torch.full((B, 1), 2), cache)
    before = [layer.memory_keys for layer in cache.layers]
    cache.reorder_beams(torch.zeros(B, K, dtype=torch.long))
    model.step(torch.full((B, K), 7), cache)
    assert all(layer.memory_keys is keys for layer, keys in zip(cache.layers, before, strict=True))
    assert before[0].shape == (B, 4, 5, 8)
    assert cache.layers[0].keys.append(torch.zeros(B * K, 4, 8)).shape == (3, B * K, 4, 8)


def test_the_past_is_kept_through_every_new_room_and_every_choice_of_rows():
    past, expected = PastCache(), torch.empty(0, 3, 2, 5)
    for position in range(3 * BLOCK):
        newest = torch.randn(expected.shape[1:])
        expected = torch.cat([expected, newest.unsqueeze(0)])
        assert torch.equal(past.append(newest), expected)
        if position % 7 == 0:
            rows = torch.randint(expected.shape[1], (2 + position % 3,))
            past.select_rows(rows)
            expected = expected[:, rows]
    assert past.length == 3 * BLOCK


@torch.no_grad()
def test_beams_that_change_places_take_their_whole_past_with_them(build_model):
    torch.manual_seed(6)
    cache = build_model().start(SOURCE)
    pasts = [past for layer in cache.layers for past in (layer.keys, layer.values)]
    expected = [torch.empty(0, B * K, 2, 5) for _ in pasts]
    for position in range(2 * BLOCK):
        for number, past in enumerate(pasts):
            newest = torch.randn(B * K, 2, 5)
            expected[number] = torch.cat([expected[number], newest.unsqueeze(0)])
            assert torch.equal(past.append(newest), expected[number])
        cache.end_step(K)
        parents = torch.randint(K, (B, K)) if position % 5 else torch.arange(K).expand(B, K)
        cache.reorder_beams(parents)
        rows = (torch.arange(B).unsqueeze(1) * K + parents).flatten()
        expected = [past[:, rows] for past in expected]


@every_variant
@torch.no_grad()
def test_bfloat16_steps_agree_with_the_whole_prefix(build_model, changes):
    model, target = build_model(**changes).bfloat16(), torch.randint(4, 40, (B, 6))
    cache = model.start(SOURCE)
    steps = [model.step(target[:, t : t + 1], cache) for t in range(6)]
    assert_close(torch.cat(steps, dim=1), model(SOURCE, target), atol=0.1, rtol=0)


@every_variant
@torch.no_grad()
def test_the_attention_of_a_step_is_the_mean_of_the_last_layer_s_heads(build_model, changes):
    model, target = build_model(**changes), torch.randint(4, 40, (B, 6))
    cache = model.start(SOURCE)
    steps = [model.step_with_attention(target[:, t : t + 1], cache) for t in range(6)]
    assert_same(torch.cat([logits for logits, _ in steps], dim=1), model(SOURCE, target))
    attention = torch.cat([weights for _, weights in steps], dim=1)
    assert_same(attention, model.attention_weights(SOURCE, target).cross[-1].mean(dim=1))
    assert_same(attention.sum(dim=-1), torch.ones(B, 6))
    assert not attention.masked_select((SOURCE == 0).unsqueeze(1)).any()
