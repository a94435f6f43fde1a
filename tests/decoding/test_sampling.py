"""Samples have the model's probabilities, and belong to their sentence."""

import math
from collections import Counter

import pytest
import torch
from stand_in_models import BOS, EOS, NAMES, PAD, UNK, A, noise_model, sources, table_model

from latimer.decoding import SamplingSettings, SearchSettings, beam_search, force_decode, sample
from latimer.errors import LatimerError
from latimer.model import Transformer

TABLE = {"": {"a": 0.5, "b": 0.3, "": 0.2}, "a": {"": 0.6, "b": 0.4}}
NEVER_ENDS = {"a": 0.6, "b": 0.3, "": 0.1}
SETTINGS = SamplingSettings(samples=3, max_length_offset=6)


def text(hypothesis):
    return "".join(NAMES[i] for i in hypothesis.ids)


def chi_square(counts, probabilities):
    """How far counts are from what is expected; texts beyond the expected ones are a failure."""
    assert set(counts) <= set(probabilities)
    total = sum(counts.values())
    return sum((counts[t] - total * p) ** 2 / (total * p) for t, p in probabilities.items())


@pytest.mark.parametrize(
    ("changes", "probabilities"),
    [
        ({}, {"": 0.2, "b": 0.3, "a": 0.3, "ab": 0.2}),
        ({"min_length": 1}, {"b": 0.375, "a": 0.375, "ab": 0.25}),
        ({"top_k": 2}, {"b": 0.375, "a": 0.375, "ab": 0.25}),
        ({"top_p": 0.55}, {"b": 0.375, "a": 0.625}),
        ({"temperature": 0.5}, {"": 4 / 38, "b": 9 / 38, "a": 225 / 494, "ab": 100 / 494}),
    ],
)
def test_texts_are_as_frequent_as_they_are_probable(changes, probabilities):
    settings = SamplingSettings(**{"samples": 2000, "min_length": 0, **changes})
    [drawn] = sample(table_model(TABLE), sources([3]), settings)
    assert len(drawn) == 2000
    assert chi_square(Counter(map(text, drawn)), probabilities) < 18  # of 3: p = 0.0004


def test_different_sentences_draw_independently():
    batch = sources([4] * 500)
    settings = SamplingSettings(min_length=0)
    counts = Counter(text(one) for [one] in sample(table_model(TABLE), batch, settings))
    assert chi_square(counts, {"": 0.2, "b": 0.3, "a": 0.3, "ab": 0.2}) < 18


@pytest.mark.parametrize("changes", [{"top_k": 1}, {"temperature": 1e-6}, {"top_p": 1e-6}])
def test_drawing_from_the_most_probable_piece_alone_is_greedy_search(changes):
    batch = sources([1, 5, 3, 9, 2, 2, 7, 4])
    for seed in range(3):
        model = noise_model(seed, end_bias=1.0)
        greedy = SearchSettings(beam_size=1, length_penalty=0, max_length_offset=6)
        settings = SamplingSettings(samples=2, max_length_offset=6, **changes)
        for drawn, [best] in zip(
            sample(model, batch, settings), beam_search(model, batch, greedy), strict=True
        ):
            assert [h.ids for h in drawn] == [best.ids] * 2
            assert drawn[0].log_probability == pytest.approx(best.log_probability, abs=1e-5)
            assert drawn[0].finished == best.finished


@pytest.mark.parametrize("changes", [{}, {"temperature": 0.7, "top_k": 3, "top_p": 0.8}])
def test_log_probabilities_are_the_model_s_own(changes):
    # field case 102: they are those of forced decoding, whatever decided what is drawn
    batch, model = sources(range(1, 11)), noise_model(7, end_bias=-1.0)
    settings = SamplingSettings(samples=4, max_length_offset=3, **changes)
    found = sample(model, batch, settings)
    assert not all(h.finished for drawn in found for h in drawn), "no limit was reached: no test"
    for row, drawn in zip(batch, found, strict=True):
        forced = force_decode(model, row.expand(4, -1), [h.ids for h in drawn], 0.0)
        for hypothesis, again in zip(drawn, forced, strict=True):
            expected = pytest.approx(again.log_probability, abs=1e-4)
            assert hypothesis.log_probability == expected
            assert hypothesis.score == expected


def test_batches_change_nothing():
    # field case 97
    model = noise_model(1, end_bias=1.0)
    every = sources([n * 7 % 11 + 1 for n in range(32)])
    alone = [sample(model, row[None, row != PAD], SETTINGS)[0] for row in every]
    assert len({h.ids for drawn in alone for h in drawn}) > 32, "samples are alike: no test"
    for batch_size in (7, 32):
        batches = [sample(model, part, SETTINGS) for part in every.split(batch_size)]
        assert [drawn for batch in batches for drawn in batch] == alone


def test_neither_order_nor_padding_nor_a_double_changes_anything():
    model, batch = noise_model(2, end_bias=1.0), sources([1, 9, 3, 3, 5, 8, 2])
    order = torch.tensor([3, 0, 6, 5, 1, 4, 2, 3])
    straight = sample(model, batch, SETTINGS)
    wider = torch.nn.functional.pad(batch[order], (0, 4), value=PAD)
    assert sample(model, wider, SETTINGS) == [straight[i] for i in order]


def test_the_first_samples_are_the_same_however_many_are_drawn():
    model, batch = noise_model(3, end_bias=0.5), sources([2, 6, 4])
    few = sample(model, batch, SamplingSettings(samples=2))
    many = sample(model, batch, SamplingSettings(samples=9))
    assert [drawn[:2] for drawn in many] == few


def test_another_seed_draws_other_samples_and_the_same_seed_the_same():
    model, batch = noise_model(4), sources([8] * 5)
    one, again, two = (
        sample(model, batch, SamplingSettings(samples=4, seed=seed)) for seed in (1, 1, 2)
    )
    assert one == again
    assert all(mine != other for mine, other in zip(one, two, strict=True))


def test_the_limit_is_each_sentence_s_own_and_ends_with_eos():
    settings = SamplingSettings(samples=200, max_length_factor=2.0, max_length_offset=1)
    found = sample(table_model({}, rest=NEVER_ENDS), sources([1, 4]), settings)
    for drawn, limit in zip(found, (3, 9), strict=True):
        assert max(len(h.ids) for h in drawn) == limit
        assert all(h.finished or len(h.ids) == limit for h in drawn)
    at_limit = [h for h in found[1] if len(h.ids) == 9]
    assert {h.finished for h in at_limit} == {True, False}
    assert at_limit[0].log_probability == pytest.approx(
        sum(math.log(NEVER_ENDS[piece]) for piece in text(at_limit[0])) + math.log(0.1), abs=1e-4
    )


def test_a_model_that_gives_the_end_no_chance_stops_at_the_limit():
    model = table_model({}, rest={"a": 0.7, "b": 0.3})
    [[one]] = sample(model, sources([2]), SamplingSettings(max_length_offset=3))
    assert (len(one.ids), one.finished) == (5, False)
    assert one.log_probability > -math.inf


@pytest.mark.parametrize("min_length", [0, 1, 4])
def test_no_sample_is_shorter_than_min_length(min_length):
    # field case 94
    settings = SamplingSettings(samples=50, min_length=min_length)
    [drawn] = sample(table_model({}, rest={"": 0.9, "a": 0.1}), sources([3]), settings)
    assert min(len(h.ids) for h in drawn) == min_length


def test_a_text_that_nothing_may_follow_ends_before_min_length():
    [[one]] = sample(table_model({"": {"a": 1.0}}), sources([3]), SamplingSettings(min_length=2))
    assert one.ids == (A,)


def test_a_sample_begins_with_its_prefix():
    model, batch = noise_model(5, end_bias=0.5), sources([4, 4, 4])
    free = sample(model, batch, SETTINGS)
    given = [[], [5, 6], [4] * 11]
    found = sample(model, batch, SETTINGS, prefixes=given)
    assert found[0] == free[0]
    assert all(h.ids[:2] == (5, 6) for h in found[1])
    assert len({h.ids for h in found[1]}) > 1
    assert {h.ids for h in found[2]} == {(4,) * 11}  # beyond the limit, it ends at once


def test_texts_hold_no_special_pieces_and_nothing_after_the_end():
    # field case 98
    for drawn in sample(noise_model(5), sources([n % 9 + 1 for n in range(50)]), SETTINGS):
        for hypothesis in drawn:
            assert not {PAD, UNK, BOS, EOS} & set(hypothesis.ids)


def test_finished_sentences_and_samples_leave_the_batch():
    # field case 98
    def logits(source, prefix):
        """Two pieces of which one ends soon, and later in longer sentences."""
        row = torch.zeros(7)
        row[EOS if A in prefix or len(prefix) > len(source) else A] = 1.0
        return row

    model = noise_model()
    model.logits = logits
    sample(model, sources([1, 2, 12]), SamplingSettings(samples=8))
    assert model.steps[0] == (3, 8)
    assert model.steps[-1] < (2, 8)
    for before, after in zip(model.steps, model.steps[1:], strict=False):
        assert after[0] < before[0] or (after[0] == before[0] and after[1] <= before[1])


def test_weights_that_are_no_numbers_are_named():
    model = noise_model()
    model.logits = lambda source, prefix: torch.full((7,), math.nan)
    with pytest.raises(LatimerError, match="NaN"):
        sample(model, sources([3]), SETTINGS)


def test_no_sentences_give_no_samples():
    assert sample(noise_model(), torch.zeros(0, 3, dtype=torch.long), SETTINGS) == []


def test_a_source_without_pieces_is_sampled_like_any_other():
    batch = torch.tensor([[EOS, PAD, PAD], [A, A, EOS]])
    settings = SamplingSettings(max_length_offset=3)
    found = sample(table_model({}, rest={"a": 1.0}), batch, settings)
    assert [len(one.ids) for [one] in found] == [3, 5]


@pytest.fixture(scope="module")
def transformer():
    torch.manual_seed(3)
    sizes = {"d_model": 32, "heads": 4, "d_ff": 64, "encoder_layers": 2, "decoder_layers": 2}
    return Transformer(source_vocab_size=50, target_vocab_size=50, **sizes).eval()


def test_the_transformer_is_sampled_alike_alone_and_in_a_batch(transformer):
    # field cases 96 and 97: a cache that followed the wrong sample would show here
    batch = sources([n * 5 % 13 + 1 for n in range(8)])
    settings = SamplingSettings(samples=5, top_p=0.9, max_length_offset=6)
    alone = [sample(transformer, row[None, row != 0], settings)[0] for row in batch]
    together = sample(transformer, batch, settings)
    assert [[h.ids for h in drawn] for drawn in together] == [[h.ids for h in d] for d in alone]
    for row, drawn in zip(batch, together, strict=True):
        forced = force_decode(transformer, row.expand(5, -1), [h.ids for h in drawn], 0.0)
        for hypothesis, again in zip(drawn, forced, strict=True):
            assert hypothesis.log_probability == pytest.approx(again.log_probability, abs=1e-4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"samples": 0},
        {"temperature": 0},
        {"temperature": math.inf},
        {"temperature": math.nan},
        {"top_k": -1},
        {"top_p": 0},
        {"top_p": 1.1},
        {"min_length": -1},
    ],
)
def test_values_out_of_range_are_refused_by_name(wrong):
    with pytest.raises(LatimerError) as caught:
        SamplingSettings(**wrong)
    [(name, value)] = wrong.items()
    assert name in str(caught.value)
    assert str(value) in str(caught.value)
