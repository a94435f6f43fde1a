"""Targets whose beginning is given: followed, counted, and then gone on with."""

import math

import pytest
import torch
from search_options import every_option
from stand_in_models import BOS, EOS, PAD, UNK, A, B, C, noise_model, sources, table_model

from latimer.decoding import SearchSettings, beam_search, force_decode

BATCH = sources([3, 1, 6, 2])
PREFIXES = [(B, C), (), (C, C, C, A, B), (A,)]


@every_option
def test_hypotheses_begin_with_the_prefix_alone_as_in_a_batch(settings):
    model = noise_model(3, end_bias=0.5)
    together = beam_search(model, BATCH, settings, prefixes=PREFIXES)
    for row, prefix, hypotheses in zip(BATCH, PREFIXES, together, strict=True):
        assert hypotheses
        assert all(found.ids[: len(prefix)] == prefix for found in hypotheses)
        [alone] = beam_search(model, row[None], settings, prefixes=[prefix])
        assert [h.ids for h in alone] == [h.ids for h in hypotheses]
        [forced, *_] = force_decode(model, row[None], [hypotheses[0].ids], 0)
        assert hypotheses[0].log_probability == pytest.approx(forced.log_probability, abs=1e-4)


def test_empty_prefixes_change_nothing():
    model, settings = noise_model(1), SearchSettings(n_best=2, max_length_offset=4)
    free = beam_search(model, BATCH, settings)
    assert beam_search(model, BATCH, settings, prefixes=[()] * 4) == free
    begun = beam_search(model, BATCH, settings, prefixes=[(), (A, B), (), ()])
    assert [begun[0], *begun[2:]] == [free[0], *free[2:]]


def test_the_log_probability_of_the_prefix_counts():
    table = {"": {"a": 0.9, "b": 0.1}, "b": {"": 0.5, "c": 0.5}, "bc": {"": 1.0}}
    settings = SearchSettings(length_penalty=0, n_best=2)
    [found] = beam_search(table_model(table), sources([2]), settings, prefixes=[(B,)])
    assert {h.ids for h in found} == {(B,), (B, C)}
    assert [h.log_probability for h in found] == pytest.approx([math.log(0.05)] * 2, abs=1e-5)


def test_a_prefix_counts_for_the_lengths_and_one_beyond_the_limit_ends_at_once():
    model = table_model({}, rest={"a": 0.6, "b": 0.3, "": 0.1})
    batch, settings = sources([2, 2, 2]), SearchSettings(beam_size=2, max_length_offset=1)
    prefixes = [(B,), (B,) * 3, (B,) * 7]
    found = [best.ids for [best] in beam_search(model, batch, settings, prefixes=prefixes)]
    assert found == [(B, A, A), (B,) * 3, (B,) * 7]
    shortest = SearchSettings(min_length=3, length_penalty=0)
    model = table_model({}, rest={"": 0.9, "a": 0.1})
    [[best]] = beam_search(model, sources([2]), shortest, prefixes=[(A, A)])
    assert best.ids == (A,) * 3


def test_a_prefix_may_repeat_itself_and_forbids_what_would_repeat_it():
    model = table_model({}, rest={"a": 0.6, "b": 0.3, "": 0.1})
    settings = SearchSettings(beam_size=1, no_repeat_ngram=1)
    [[best]] = beam_search(model, sources([2]), settings, prefixes=[(A, A, A)])
    assert best.ids == (A, A, A, B)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_prefix_that_the_model_holds_impossible_is_followed(beam_size):
    model = table_model({"ca": {"": 1.0}}, rest={"a": 1.0})
    settings = SearchSettings(beam_size=beam_size)
    [[best]] = beam_search(model, sources([2]), settings, prefixes=[(C,)])
    assert best.ids == (C, A)


def test_finished_sentences_leave_while_others_are_still_in_their_prefixes():
    model = table_model({}, rest={"": 0.9, "a": 0.1})
    beam_search(model, sources([1, 1]), SearchSettings(), prefixes=[(), (A,) * 9])
    assert model.steps[0][0] == 2
    assert model.steps[-1][0] == 1


@pytest.mark.parametrize("special", [PAD, UNK, BOS, EOS])
def test_special_pieces_are_in_no_prefix(special):
    with pytest.raises(ValueError, match=rf"prefix 1 holds the special ids \[{special}\]"):
        beam_search(noise_model(), sources([1, 1]), SearchSettings(), prefixes=[(A,), (A, special)])


def test_every_sentence_needs_a_prefix():
    with pytest.raises(ValueError, match="2 sources, but 1 prefixes"):
        beam_search(noise_model(), sources([1, 1]), SearchSettings(), prefixes=[(A,)])
    empty = torch.zeros(0, 3, dtype=torch.long)
    assert beam_search(noise_model(), empty, SearchSettings(), prefixes=[]) == []
