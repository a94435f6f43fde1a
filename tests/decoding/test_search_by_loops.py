"""The vectorised search, which stops early, finds what plain loops up to the limit find."""

from itertools import product

import pytest
from plain_search import LETTERS, assert_same, repeats, score, search
from search_options import every_option
from stand_in_models import BOS, EOS, A, B, C, noise_model, sources

from latimer.decoding import Hypothesis, SearchSettings, SpecialIds, beam_search
from latimer.decoding.lengths import length_limits

BATCH = sources([1, 5, 3, 2])
PREFIXES = [(A,), (), (B, B, C), (A, C, A, A, A, B, B)]


@pytest.mark.parametrize("prefixes", [None, PREFIXES], ids=["free", "begun"])
@every_option
def test_the_search_finds_what_plain_loops_find(settings, prefixes):
    # field cases 91 and 92
    limits = length_limits(BATCH, settings, SpecialIds()).tolist()
    for seed in range(2):
        model = noise_model(seed, end_bias=0.5)
        found = beam_search(model, BATCH, settings, prefixes=prefixes)
        begun = prefixes or [()] * len(BATCH)
        for row, limit, prefix, hypotheses in zip(BATCH, limits, begun, found, strict=True):
            assert_same(hypotheses, search(model, row.tolist(), settings, limit, prefix))


def every_text(model, source, settings, longest, prefix):
    """All that may be found, best first, without a search: a text's score by itself."""
    texts = (t for n in range(longest + 1) for t in product(LETTERS, repeat=n))
    found = []
    for ids in texts:
        free = range(len(prefix) + 1, len(ids) + 1)
        if ids[: len(prefix)] == prefix and not any(
            repeats(ids[:end], settings.no_repeat_ngram) for end in free
        ):
            rows = [
                model.logits(source, (BOS, *ids[:t])).log_softmax(-1) for t in range(len(ids) + 1)
            ]
            total = sum(row[i].item() for row, i in zip(rows, (*ids, EOS), strict=True))
            value = score(model, source, ids, total, settings)
            found.append(Hypothesis(ids, total, value, finished=True))
    return sorted(found, key=lambda each: -each.score)


@pytest.mark.parametrize("prefix", [(), (B,), (C, C)])
@pytest.mark.parametrize(
    "options",
    [
        {"length_penalty": "average"},
        {"length_penalty": 0.0},
        {"coverage_penalty": 0.6},
        {"coverage_penalty": 0.6, "length_penalty": "average"},
        {"no_repeat_ngram": 1},
        {"no_repeat_ngram": 2, "length_penalty": "average"},
    ],
    ids=str,
)
def test_a_beam_as_wide_as_the_space_is_exhaustive(options, prefix):
    # field case 92: V = 4 (three letters and eos), T = 4 with eos
    settings = SearchSettings(
        beam_size=4**4,
        max_length_factor=0,
        max_length_offset=3,
        min_length=0,
        n_best=4**4,
        **options,
    )
    model, source = noise_model(5), sources([2])
    [found] = beam_search(model, source, settings, prefixes=[prefix])
    expected = every_text(model, tuple(source[0].tolist()), settings, 3, prefix)
    assert_same(found, expected)
    assert len(found) == len({h.ids for h in found})
