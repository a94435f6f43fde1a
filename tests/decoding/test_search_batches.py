"""A sentence is translated alike alone and in any batch, up to a limit of its own."""

import pytest
import torch
from stand_in_models import BOS, EOS, PAD, A, noise_model, sources, table_model

from latimer.decoding import SearchSettings, beam_search, force_decode

NEVER_ENDS = {"a": 0.6, "b": 0.3, "": 0.1}
SETTINGS = SearchSettings(beam_size=4, n_best=2, max_length_offset=6)


def lengths(hypotheses):
    return [len(best.ids) for [best] in hypotheses]


@pytest.mark.parametrize("batch_size", [1, 7, 64])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_batches_change_nothing(batch_size, beam_size):
    # field case 97
    model = noise_model(1, end_bias=1.0)
    settings = SearchSettings(beam_size=beam_size, max_length_offset=6)
    every = sources([n * 7 % 11 + 1 for n in range(64)])
    alone = [beam_search(model, row[None, row != PAD], settings)[0] for row in every]
    batches = [beam_search(model, part, settings) for part in every.split(batch_size)]
    assert [found for batch in batches for found in batch] == alone


def test_the_order_of_sentences_changes_nothing():
    model, batch = noise_model(2, end_bias=1.0), sources([1, 9, 3, 3, 5, 8, 2])
    order = torch.tensor([3, 0, 6, 5, 1, 4, 2])
    straight = beam_search(model, batch, SETTINGS)
    assert beam_search(model, batch[order], SETTINGS) == [straight[i] for i in order]


def test_padding_changes_nothing():
    batch = sources([2, 5])
    wider = torch.nn.functional.pad(batch, (0, 4), value=PAD)
    model = noise_model(3)
    assert beam_search(model, batch, SETTINGS) == beam_search(model, wider, SETTINGS)


def test_the_limit_is_each_sentence_s_own():
    settings = SearchSettings(beam_size=2, max_length_factor=2.0, max_length_offset=3)
    found = beam_search(table_model({}, rest=NEVER_ENDS), sources([1, 6, 3]), settings)
    assert lengths(found) == [5, 15, 9]
    assert not any(best.finished for [best] in found)


@pytest.mark.parametrize(
    ("factor", "offset", "pieces", "limit"), [(1.1, 0, 10, 11), (0.5, 1, 3, 2), (0, 4, 9, 4)]
)
def test_the_limit_is_rounded_down(factor, offset, pieces, limit):
    settings = SearchSettings(
        beam_size=1, max_length_factor=factor, max_length_offset=offset, length_penalty=0
    )
    found = beam_search(table_model({}, rest=NEVER_ENDS), sources([pieces]), settings)
    assert lengths(found) == [limit]


@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_hypothesis_at_the_limit_ends_with_eos(beam_size):
    batch, model = sources([2, 4]), table_model({}, rest=NEVER_ENDS)
    settings = SearchSettings(beam_size=beam_size, max_length_offset=1)
    found = [best for [best] in beam_search(model, batch, settings)]
    forced = force_decode(model, batch, [best.ids for best in found], 0.6)
    for best, again in zip(found, forced, strict=True):
        assert best.log_probability == pytest.approx(again.log_probability, abs=1e-4)


def test_a_model_that_gives_the_end_no_chance_stops_at_the_limit():
    model = table_model({}, rest={"a": 0.7, "b": 0.3})
    [[best]] = beam_search(model, sources([2]), SearchSettings(max_length_offset=3))
    assert best.ids == (A,) * 5
    assert not best.finished


def test_an_end_of_the_model_s_own_at_the_limit_counts_as_finished():
    table = {"": {"a": 1.0}, "a": {"a": 0.9, "": 0.1}, "aa": {"": 0.9, "a": 0.1}}
    settings = SearchSettings(beam_size=2, max_length_offset=0)
    [[best]] = beam_search(table_model(table), sources([2]), settings)
    assert best.ids == (A, A)
    assert best.finished


def test_max_length_binds_every_sentence():
    settings = SearchSettings(max_length=4)
    found = beam_search(table_model({}, rest=NEVER_ENDS), sources([1, 6, 3]), settings)
    assert lengths(found) == [4, 4, 4]


@pytest.mark.parametrize("min_length", [0, 1, 4])
def test_no_hypothesis_is_shorter_than_min_length(min_length):
    # field case 94
    model = table_model({}, rest={"": 0.9, "a": 0.1})
    settings = SearchSettings(min_length=min_length, length_penalty=0)
    [[best]] = beam_search(model, sources([3]), settings)
    assert best.ids == (A,) * min_length


def test_finished_sentences_leave_the_batch():
    # field case 98
    def logits(source, prefix):
        row = torch.zeros(7)
        row[EOS if len(prefix) > len(source) else A] = 9.0
        return row

    model = noise_model()
    model.logits = logits
    found = beam_search(model, sources([1, 2, 8]), SearchSettings(beam_size=2))
    assert lengths(found) == [2, 3, 9]
    sentences = [shape[0] for shape in model.steps]
    assert sentences[0] == 3
    assert sentences[-1] == 1
    assert sentences == sorted(sentences, reverse=True)


def test_a_source_without_pieces_is_searched_like_any_other():
    settings = SearchSettings(max_length_offset=3, max_length_factor=1.0)
    batch = torch.tensor([[EOS, PAD, PAD], [A, A, EOS]])
    found = beam_search(table_model({}, rest=NEVER_ENDS), batch, settings)
    assert lengths(found) == [3, 5]


def test_ties_are_settled_alike_alone_and_in_a_batch():
    model = noise_model(vocab_size=500)
    model.logits = lambda source, prefix: torch.zeros(500)
    [alone] = beam_search(model, sources([4]), SETTINGS)
    assert beam_search(model, sources([4] * 9), SETTINGS) == [alone] * 9


def test_probabilities_are_summed_in_float32_whatever_the_model_s_precision():
    model = noise_model(4, end_bias=-2.0)
    exact = model.logits
    model.logits = lambda source, prefix: exact(source, prefix).bfloat16()
    batch = sources([7])
    [[best, *_]] = beam_search(model, batch, SETTINGS)
    rows = [model.logits((*batch[0].tolist(),), (BOS, *best.ids[:t])) for t in range(14)]
    expected = sum(
        row.double().log_softmax(-1)[piece].item()
        for row, piece in zip(rows, (*best.ids, EOS), strict=False)
    )
    assert best.log_probability == pytest.approx(expected, abs=1e-5)
