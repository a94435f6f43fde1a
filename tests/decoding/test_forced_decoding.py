"""What a model thinks of given targets, by hand and step by step against all at once."""

import math

import pytest
import torch
from stand_in_models import EOS, A, B, sources, table_model

from latimer.decoding import SearchSettings, SpecialIds, beam_search, force_decode
from latimer.decoding.coverage import start_coverage
from latimer.decoding.forced import ROWS_AT_ONCE, follow, read_at_once
from latimer.decoding.lengths import penalty
from latimer.model import Transformer

TABLE = {"": {"a": 0.5, "b": 0.4, "": 0.1}, "b": {"": 0.9, "a": 0.1}}


def test_the_penalty_is_one_for_one_piece_and_grows_with_length():
    assert penalty(1, 0.6) == 1.0
    assert penalty(4, 0.6) == pytest.approx(1.5**0.6)
    assert penalty(40, 0) == 1.0
    assert penalty(torch.tensor([1, 7]), 1.0).tolist() == [1.0, 2.0]


def test_log_probabilities_and_scores_by_hand():
    # field case 102: the sum with eos, and that sum over the penalty of the length with eos
    source = sources([2, 3, 1])
    found = force_decode(table_model(TABLE), source, [[B], [], [B, A]], 0.6)
    assert [h.ids for h in found] == [(B,), (), (B, A)]
    totals = [math.log(0.36), math.log(0.1), math.log(0.04)]
    assert [h.log_probability for h in found] == pytest.approx(totals, abs=1e-5)
    scores = [total / ((5 + n) / 6) ** 0.6 for total, n in zip(totals, (2, 1, 3), strict=True)]
    assert [h.score for h in found] == pytest.approx(scores, abs=1e-5)


def test_every_source_needs_a_target():
    with pytest.raises(ValueError, match="2 sources, but 1 targets"):
        force_decode(table_model(TABLE), sources([2, 3]), [[A]], 0.6)


@pytest.fixture(scope="module")
def transformer():
    torch.manual_seed(3)
    return Transformer(
        source_vocab_size=50,
        target_vocab_size=50,
        d_model=32,
        heads=4,
        d_ff=64,
        encoder_layers=2,
        decoder_layers=2,
    ).eval()


@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_cached_search_of_the_transformer_scores_as_teacher_forcing_does(transformer, beam_size):
    # field case 96
    batch = sources([1, 9, 4, 6, 2, 12, 3])
    settings = SearchSettings(beam_size=beam_size, n_best=beam_size, max_length_offset=8)
    for row, hypotheses in zip(batch, beam_search(transformer, batch, settings), strict=True):
        for hypothesis in hypotheses:
            target = torch.tensor([[2, *hypothesis.ids]])
            labels = torch.tensor([*hypothesis.ids, EOS])
            with torch.no_grad():
                log_probabilities = transformer(row[None], target)[0].log_softmax(-1)
            total = log_probabilities[torch.arange(len(labels)), labels].sum().item()
            assert hypothesis.log_probability == pytest.approx(total, abs=1e-4)


def test_the_transformer_translates_alike_alone_and_in_a_batch(transformer):
    # field case 97
    batch = sources([n * 5 % 13 + 1 for n in range(24)])
    settings = SearchSettings(beam_size=4, max_length_offset=6)
    alone = [beam_search(transformer, row[None, row != 0], settings)[0] for row in batch]
    together = beam_search(transformer, batch, settings)
    assert [best.ids for [best] in together] == [best.ids for [best] in alone]


def test_forced_decoding_of_the_transformer_is_teacher_forcing(transformer):
    source, targets = sources([3, 7]), [[5, 6], [9, 8, 7, 6, 5]]
    found = force_decode(transformer, source, targets, 0.0)
    for row, target, hypothesis in zip(source, targets, found, strict=True):
        with torch.no_grad():
            logits = transformer(row[None], torch.tensor([[2, *target]]))[0]
        loss = torch.nn.functional.cross_entropy(
            logits, torch.tensor([*target, EOS]), reduction="sum"
        )
        assert hypothesis.log_probability == pytest.approx(-loss.item(), abs=1e-4)


def test_targets_read_at_once_are_as_probable_as_step_by_step(transformer):
    # more rows than are made together, and targets of all lengths from none
    source = sources([n % 11 + 1 for n in range(90)])
    targets = [[4 + (row + place) % 40 for place in range(row % 13)] for row in range(90)]
    assert sum(len(target) + 1 for target in targets) > ROWS_AT_ONCE
    special_ids = SpecialIds()
    coverage = start_coverage(transformer, source, 0.0, special_ids)
    by_steps, _ = follow(transformer, source, targets, coverage, special_ids)
    assert read_at_once(transformer, source, targets, special_ids) == pytest.approx(
        by_steps, abs=1e-4
    )


def test_a_coverage_penalty_follows_the_attention_of_each_step(transformer):
    source, targets = sources([3, 7]), [[5, 6], [9, 8, 7, 6, 5]]
    plain = force_decode(transformer, source, targets, 0.0)
    covered = force_decode(transformer, source, targets, 0.0, coverage_penalty=0.5)
    assert [h.log_probability for h in covered] == pytest.approx(
        [h.log_probability for h in plain], abs=1e-4
    )
    assert all(h.score < h.log_probability for h in covered)
