"""No n-gram twice, and what becomes of a hypothesis that no piece is left to."""

import math

import pytest
from plain_search import repeats
from stand_in_models import A, B, C, noise_model, sources, table_model

from latimer.decoding import SearchSettings, beam_search, force_decode

NEVER_ENDS = {"a": 0.6, "b": 0.3, "": 0.1}
WITHOUT_END = {"a": 0.7, "b": 0.3}


def best(rest, table=None, **settings):
    model = table_model(table or {}, rest=rest)
    [[found]] = beam_search(model, sources([2]), SearchSettings(**settings))
    return found


@pytest.mark.parametrize(("size", "expected"), [(1, (A, B)), (2, (A, A, B, A))])
def test_greedy_search_by_hand(size, expected):
    # a, then b since a stands there; a a b a, after which both "aa" and "ab" stand there
    assert best(NEVER_ENDS, beam_size=1, no_repeat_ngram=size).ids == expected


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_no_ngram_stands_twice(size, beam_size):
    settings = SearchSettings(
        beam_size=beam_size,
        n_best=beam_size,
        no_repeat_ngram=size,
        min_length=3,
        max_length_offset=12,
    )
    for hypotheses in beam_search(noise_model(2, end_bias=-2.0), sources([1, 5, 3]), settings):
        for found in hypotheses:
            assert len(found.ids) >= 3
            ends = range(1, len(found.ids) + 1)
            assert not any(repeats(found.ids[:end], size) for end in ends)


def test_longer_ngrams_than_the_text_forbid_nothing():
    batch, model = sources([3, 6]), noise_model(4)
    plain = SearchSettings(max_length_offset=5)
    never = SearchSettings(max_length_offset=5, no_repeat_ngram=12)
    assert beam_search(model, batch, never) == beam_search(model, batch, plain)


@pytest.mark.parametrize("beam_size", [1, 2, 4])
@pytest.mark.parametrize("rest", [NEVER_ENDS, WITHOUT_END], ids=["some end", "no end"])
def test_a_hypothesis_ends_where_all_is_forbidden_below_the_least_length_too(rest, beam_size):
    found = best(rest, beam_size=beam_size, no_repeat_ngram=1, min_length=6)
    assert sorted(found.ids) == [A, B]
    assert not found.finished
    assert math.isfinite(found.score)


def test_an_end_that_the_model_wants_is_its_own_though_all_else_is_forbidden():
    table = {"": {"a": 1.0}, "a": {"": 0.6, "a": 0.4}}
    found = best({"": 1.0}, table, beam_size=1, no_repeat_ngram=1)
    assert (found.ids, found.finished) == ((A,), True)
    table = {"": {"a": 1.0}, "a": {"": 0.4, "a": 0.6}}
    found = best({"": 1.0}, table, beam_size=1, no_repeat_ngram=1)
    assert (found.ids, found.finished) == ((A,), False)


@pytest.mark.parametrize("beam_size", [1, 3, 6])
def test_a_vocabulary_that_is_used_up_gives_texts_with_real_scores(beam_size):
    model, batch = noise_model(6, end_bias=-3.0), sources([1, 4, 2])
    settings = SearchSettings(
        beam_size=beam_size, n_best=beam_size, no_repeat_ngram=1, min_length=9
    )
    for row, hypotheses in zip(batch, beam_search(model, batch, settings), strict=True):
        assert len(hypotheses) == len({h.ids for h in hypotheses}) == beam_size
        for found in hypotheses:
            assert sorted(found.ids) == [A, B, C]
            [forced] = force_decode(model, row[None], [found.ids], 0.6)
            assert found.log_probability == pytest.approx(forced.log_probability, abs=1e-4)
