"""Diverse beam search (Vijayakumar et al., 2018): groups that shun each other's pieces."""

import math

import pytest
import torch
from stand_in_models import BOS, A, B, C, noise_model, sources, table_model

from latimer.decoding import SearchSettings, beam_search
from latimer.decoding.beams import Beams
from latimer.decoding.step import Choices, select

BATCH = sources([4, 1, 7, 2, 3])
TWO_WAYS = {
    "": {"a": 0.6, "b": 0.3, "c": 0.1},
    "a": {"c": 0.5, "b": 0.4, "a": 0.1},
    "b": {"c": 0.5, "b": 0.4, "a": 0.1},
}


def settings(beam_size, groups, penalty, **others):
    return SearchSettings(
        beam_size=beam_size,
        beam_groups=groups,
        diversity_penalty=penalty,
        n_best=beam_size,
        **{"max_length_offset": 4, **others},
    )


def first_pieces(penalty):
    found = beam_search(
        table_model(TWO_WAYS, rest={"": 1.0}),
        sources([2]),
        settings(2, 2, penalty, length_penalty=0),
    )
    return {hypothesis.ids for hypothesis in found[0]}


def test_two_groups_of_one_beam_by_hand():
    # ln 0.6 - ln 0.3 = 0.693: below it, the second group begins with "a" as well
    assert {ids[0] for ids in first_pieces(0.69)} == {A}
    assert {ids[0] for ids in first_pieces(0.70)} == {A, B}
    # ln 0.5 - ln 0.4 = 0.223: beyond it, the groups' second pieces differ too, whatever the first
    assert first_pieces(0.22) == {(A, C)}
    assert first_pieces(0.23) == {(A, C), (A, B)}
    assert first_pieces(0.70) == {(A, C), (B, B)}


def test_the_penalty_is_in_no_score():
    [found] = beam_search(
        table_model(TWO_WAYS, rest={"": 1.0}), sources([2]), settings(2, 2, 0.7, length_penalty=0)
    )
    assert [h.ids for h in found] == [(A, C), (B, B)]
    expected = [math.log(0.3), math.log(0.12)]
    assert [h.log_probability for h in found] == pytest.approx(expected, abs=1e-5)
    assert [h.score for h in found] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("penalty", [1e-6, 0.3, 5.0])
@pytest.mark.parametrize(("beam_size", "groups"), [(4, 2), (6, 3), (3, 3)])
def test_hypotheses_differ_and_fall(beam_size, groups, penalty):
    model = noise_model(1, end_bias=0.5)
    for found in beam_search(model, BATCH, settings(beam_size, groups, penalty)):
        assert len(found) == len({h.ids for h in found})
        scores = [h.score for h in found]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("penalty", [0.1, 1.0])
def test_the_first_group_is_a_plain_search(penalty):
    model = noise_model(2, end_bias=0.5)
    plain = SearchSettings(beam_size=3, max_length_offset=4)
    diverse = beam_search(model, BATCH, settings(6, 2, penalty))
    for [best], found in zip(beam_search(model, BATCH, plain), diverse, strict=True):
        assert found[0].score >= best.score
        assert best in found or found[-1].score > best.score


def test_more_diversity_gives_more_different_pieces():
    model = noise_model(3, vocab_size=60)

    def different(penalty):
        one_piece = {"max_length_factor": 0.0, "max_length_offset": 1}
        found = beam_search(model, BATCH, settings(5, 5, penalty, **one_piece))
        return [len({h.ids for h in hypotheses}) for hypotheses in found]

    assert different(100.0) == [5] * 5
    assert different(1e-6) == [1] * 5


def test_a_beam_that_nothing_can_come_of_is_shunned_by_nobody():
    live = Beams.start(torch.zeros(1, 1, 0), groups=2, bos_id=BOS)
    ids = torch.tensor([[[A, B, C], [B, C, A]]])
    pieces = torch.tensor([[[0.0, -math.inf, -math.inf], [-1.0, -1.2, -1.4]]])
    choices = Choices(ids, pieces, end=pieces[..., 0], wanted=pieces[..., 0])
    longer, _ = select(live, choices, torch.tensor([False]), settings(4, 2, 0.5))
    assert longer.last_ids[0, [0, 2, 3]].tolist() == [A, B, C]


def test_groups_begin_with_the_same_prefix_and_part_after_it():
    [found] = beam_search(
        table_model(dict.fromkeys(("", "c", "cc"), TWO_WAYS[""]), rest={"": 0.9, "a": 0.1}),
        sources([2]),
        settings(2, 2, 1.0, length_penalty=0, min_length=3),
        prefixes=[(C, C)],
    )
    assert {h.ids for h in found} == {(C, C, A), (C, C, B)}
