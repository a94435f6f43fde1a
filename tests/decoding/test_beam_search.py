"""Search by hand (docs: paper.md) and against brute force."""

import itertools
import math

import pytest
import torch
from plain_search import assert_same
from plain_search import search as search_by_loops
from stand_in_models import BOS, EOS, PAD, UNK, A, B, C, noise_model, sources, table_model

from latimer.decoding import SearchSettings, beam_search, force_decode
from latimer.decoding.lengths import penalty
from latimer.errors import LatimerError

SOURCE = torch.tensor([[A, B, EOS]])
GREEDY_TRAP = {
    "": {"a": 0.5, "b": 0.4, "": 0.1},
    "a": {"": 0.4, "a": 0.3, "b": 0.3},
    "b": {"": 0.9, "a": 0.1},
}
LONG_OR_NOTHING = {
    "": {"": 0.3, "a": 0.7},
    "a": {"b": 0.7, "a": 0.1, "c": 0.1, "": 0.1},
    "ab": {"c": 0.7, "a": 0.1, "b": 0.1, "": 0.1},
    "abc": {"": 0.7, "a": 0.1, "b": 0.1, "c": 0.1},
}
ANYTHING = {"a": 0.25, "b": 0.25, "c": 0.25, "": 0.25}


def text(hypothesis):
    return "".join("abc"[i - A] for i in hypothesis.ids)


def best(model, source=SOURCE, **settings):
    [[hypothesis]] = beam_search(model, source, SearchSettings(**settings))
    return hypothesis


@pytest.mark.parametrize(
    ("beam_size", "expected", "probability"), [(1, "a", 0.20), (2, "b", 0.36), (4, "b", 0.36)]
)
def test_a_beam_of_two_finds_what_greedy_search_misses(beam_size, expected, probability):
    # field case 92
    found = best(table_model(GREEDY_TRAP), beam_size=beam_size, length_penalty=0)
    assert text(found) == expected
    assert found.log_probability == pytest.approx(math.log(probability), abs=1e-5)
    assert found.score == found.log_probability
    assert found.finished


@pytest.mark.parametrize("beam_size", [2, 3, 4])
@pytest.mark.parametrize(
    ("alpha", "min_length", "expected", "score"),
    [(0, 0, "", -1.2040), (0.6, 0, "abc", -1.1186), (0, 1, "abc", -1.4267)],
)
def test_search_goes_on_while_a_longer_hypothesis_can_win(
    beam_size, alpha, min_length, expected, score
):
    # field cases 91 and 94
    model = table_model(LONG_OR_NOTHING, rest=ANYTHING)
    found = best(model, beam_size=beam_size, length_penalty=alpha, min_length=min_length)
    assert text(found) == expected
    assert found.score == pytest.approx(score, abs=1e-4)
    length = len(expected) + 1
    assert found.score == pytest.approx(found.log_probability / ((5 + length) / 6) ** alpha)


@pytest.mark.parametrize("beam_size", [2, 4])
@pytest.mark.parametrize(("alpha", "longer"), [("average", "abca"), (2.0, "abcabca")])
def test_search_goes_on_while_a_much_longer_hypothesis_can_win(alpha, longer, beam_size):
    # field case 91: 0.7 for nothing at all; 0.3 for a text that is certain from its first piece on
    certain = {longer[:t]: {letter: 1.0} for t, letter in enumerate(longer)}
    table = {**certain, "": {"": 0.7, "a": 0.3}, longer: {"": 1.0}}
    found = best(table_model(table), beam_size=beam_size, length_penalty=alpha, min_length=0)
    assert text(found) == longer
    assert found.score > math.log(0.7)
    # one piece later, it seems to have lost
    assert math.log(0.3) / penalty(2, alpha) < math.log(0.7)


def test_search_stops_once_nothing_can_win():
    model = table_model({"": {"a": 0.9, "": 0.1}, "a": {"": 0.9, "a": 0.1}}, rest=ANYTHING)
    best(model, beam_size=2, length_penalty=0, max_length_offset=50)
    assert len(model.steps) == 2


def all_hypotheses(model, source, longest, alpha):
    """Every text of up to ``longest`` of the letters, by falling score."""
    texts = [t for n in range(longest + 1) for t in itertools.product((A, B, C), repeat=n)]
    scored = force_decode(model, source.expand(len(texts), -1), texts, alpha)
    return sorted(scored, key=lambda h: -h.score)


@pytest.mark.parametrize("alpha", [0, 0.6, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_as_wide_as_the_space_is_exhaustive(alpha, seed):
    # field case 92: V = 4 (three letters and eos), T = 4 with eos
    model = noise_model(seed)
    settings = SearchSettings(
        beam_size=4**4,
        length_penalty=alpha,
        max_length_factor=0,
        max_length_offset=3,
        min_length=0,
        n_best=40,
    )
    [found] = beam_search(model, SOURCE, settings)
    expected = all_hypotheses(model, SOURCE, 3, alpha)
    assert len(found) == len(expected) == 40  # all there are
    assert [h.ids for h in found] == [h.ids for h in expected]
    assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-5)


@pytest.mark.parametrize("alpha", [0, 0.6, 2.0, "average"])
@pytest.mark.parametrize("coverage_penalty", [0.0, 0.5])
@pytest.mark.parametrize(("beam_size", "n_best"), [(2, 1), (2, 2), (4, 3), (5, 5)])
def test_stopping_early_changes_nothing(alpha, coverage_penalty, beam_size, n_best):
    # field case 91
    for seed in range(2):
        model = noise_model(seed, end_bias=0.5)
        settings = SearchSettings(
            beam_size=beam_size,
            length_penalty=alpha,
            coverage_penalty=coverage_penalty,
            max_length_offset=6,
            n_best=n_best,
        )
        [found] = beam_search(model, SOURCE, settings)
        assert_same(found, search_by_loops(model, SOURCE[0].tolist(), settings, limit=8))


def greedy(model, source, limit, min_length=1):
    """The most probable next piece, again and again."""
    ids = ()
    while len(ids) < limit:
        row = model.logits(tuple(i for i in source.tolist() if i != PAD), (BOS, *ids)).clone()
        row[[PAD, UNK, BOS]] = -math.inf
        row[EOS] = -math.inf if len(ids) < min_length else row[EOS]
        piece = row.argmax().item()
        if piece == EOS:
            break
        ids = (*ids, piece)
    return ids


@pytest.mark.parametrize("alpha", [0, 0.6, 3.0])
def test_beam_one_is_greedy_search_token_for_token(alpha):
    # field case 92
    batch = sources([1, 5, 3, 9, 2, 2, 7, 4])
    for seed in range(5):
        model = noise_model(seed, end_bias=1.0)
        settings = SearchSettings(beam_size=1, length_penalty=alpha, max_length_offset=6)
        found = beam_search(model, batch, settings)
        limits = ((batch != PAD) & (batch != EOS)).sum(1) + 6
        expected = [greedy(model, s, n) for s, n in zip(batch, limits.tolist(), strict=True)]
        assert [best.ids for [best] in found] == expected


@pytest.mark.parametrize("beam_size", [1, 2, 4, 7])
def test_scores_are_those_of_forced_decoding(beam_size):
    # field case 102
    batch = sources(range(1, 21))
    model = noise_model(7, end_bias=1.0)
    settings = SearchSettings(beam_size=beam_size, n_best=beam_size, max_length_offset=5)
    for row, hypotheses in zip(batch, beam_search(model, batch, settings), strict=True):
        targets = [h.ids for h in hypotheses]
        forced = force_decode(model, row.expand(len(targets), -1), targets, 0.6)
        for found, again in zip(hypotheses, forced, strict=True):
            assert found.log_probability == pytest.approx(again.log_probability, abs=1e-4)
            assert found.score == pytest.approx(again.score, abs=1e-4)


def test_the_entries_of_an_n_best_list_differ_and_their_scores_do_not_increase():
    settings = SearchSettings(beam_size=6, n_best=6)
    for hypotheses in beam_search(noise_model(3, end_bias=1.0), sources([4] * 10), settings):
        assert len(hypotheses) == len({h.ids for h in hypotheses}) == 6
        scores = [h.score for h in hypotheses]
        assert scores == sorted(scores, reverse=True)


def test_the_best_hypothesis_does_not_depend_on_how_many_are_asked_for():
    # field case 91: outputs depended on n_best
    batch, model = sources([3, 6, 2, 8]), noise_model(11, end_bias=0.5)
    lists = [
        beam_search(model, batch, SearchSettings(beam_size=5, n_best=n, max_length_offset=6))
        for n in (1, 3, 5)
    ]
    for one, three, five in zip(*lists, strict=True):
        assert one == three[:1] == five[:1]
        assert three == five[:3]


def test_an_n_best_list_is_shorter_where_fewer_hypotheses_exist():
    settings = SearchSettings(beam_size=4, n_best=4, max_length_factor=0, max_length_offset=1)
    [found] = beam_search(noise_model(), SOURCE, settings)
    assert sorted(text(h) for h in found) == ["a", "b", "c"]


def test_texts_hold_no_special_pieces_and_nothing_after_the_end():
    # field case 98
    batch = sources([n % 9 + 1 for n in range(50)])
    settings = SearchSettings(beam_size=3, n_best=3, max_length_offset=4)
    for hypotheses in beam_search(noise_model(5), batch, settings):
        for hypothesis in hypotheses:
            assert not {PAD, UNK, BOS, EOS} & set(hypothesis.ids)


def test_special_pieces_keep_their_share_of_the_probability():
    model = noise_model()
    model.logits = lambda source, prefix: torch.zeros(7)  # uniform over 7, 3 of them forbidden
    found = best(model, beam_size=2, length_penalty=0)
    assert found.log_probability == pytest.approx(2 * math.log(1 / 7), abs=1e-5)
    assert len(found.ids) == 1


def test_weights_that_are_no_numbers_are_named():
    model = noise_model()
    model.logits = lambda source, prefix: torch.full((7,), math.nan)
    with pytest.raises(LatimerError, match="NaN"):
        best(model)


def test_no_sentences_give_no_hypotheses():
    empty = torch.zeros(0, 3, dtype=torch.long)
    assert beam_search(noise_model(), empty, SearchSettings()) == []
    assert force_decode(noise_model(), empty, [], 0.6) == []


def test_the_logits_of_the_model_are_left_as_they_are():
    row = torch.randn(7, generator=torch.Generator().manual_seed(1))
    before = row.clone()
    shared = row.expand(1, 1, 7)
    model = noise_model()
    model.step = lambda last_ids, cache: shared.expand(*last_ids.shape, 7)
    best(model)
    assert torch.equal(row, before)
