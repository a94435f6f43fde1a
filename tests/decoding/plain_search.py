"""Beam search as one would explain it: one sentence, plain loops, up to the limit but if greedy."""

import math
from collections import Counter

import pytest
from stand_in_models import BOS, EOS, PAD, A, B, C

from latimer.decoding import Hypothesis

LETTERS = (A, B, C)


def score(model, source, ids, total, settings):
    """What a hypothesis is ranked by: its pieces without eos, and its log-probability."""
    length, alpha = len(ids) + 1, settings.length_penalty
    penalty = length if alpha == "average" else ((5 + length) / 6) ** alpha
    if not settings.coverage_penalty:
        return total / penalty
    covered = [0.0] * len(source)
    for written in range(length):
        weights = model.attention(source, (BOS, *ids[:written])).tolist()
        covered = [old + new for old, new in zip(covered, weights, strict=True)]
    gaps = [math.log(min(c, 1)) for c, piece in zip(covered, source, strict=True) if piece != EOS]
    return total / penalty + settings.coverage_penalty * sum(gaps)


def assert_same(found, expected):
    """The same hypotheses in the same order, with the same numbers."""
    assert [h.ids for h in found] == [h.ids for h in expected]
    for attribute in ("log_probability", "score"):
        values = [[getattr(h, attribute) for h in hypotheses] for hypotheses in (found, expected)]
        assert values[0] == pytest.approx(values[1], abs=1e-4)


def repeats(ids, size):
    """Whether the last n pieces stand in the text before."""
    newest = ids[len(ids) - size :]
    return bool(size) and any(ids[i : i + size] == newest for i in range(len(ids) - size))


def search(model, source, settings, limit, prefix=()):
    """The n best hypotheses of one source (its pieces and eos); vocabulary: three letters."""
    source = tuple(i for i in source if i != PAD)
    size = settings.beam_size // settings.beam_groups
    groups = [[((), 0.0)] for _ in range(settings.beam_groups)]
    ended = {}
    for length in range(max(limit, len(prefix)) + 1):
        taken = Counter()
        for number, live in enumerate(groups):
            ends, longer = [], []
            for ids, total in live:
                row = model.logits(source, (BOS, *ids)).log_softmax(-1).tolist()
                allowed = [p for p in LETTERS if not repeats((*ids, p), settings.no_repeat_ngram)]
                if length < len(prefix):
                    allowed = [prefix[length]]
                elif length >= limit:
                    allowed = []
                longer += [((*ids, piece), total + row[piece]) for piece in allowed]
                may_end = length >= max(settings.min_length, len(prefix))
                ends += [(ids, total + row[EOS])] if may_end or not allowed else []
            longer.sort(key=lambda each: taken[each[0][-1]] * settings.diversity_penalty - each[1])
            groups[number] = longer[:size]
            taken.update(ids[-1] for ids, _ in groups[number])
            rivals = sorted([*ends, *groups[number]], key=lambda each: -each[1])[:size]
            ended |= dict(each for each in rivals if each in ends)
        if settings.beam_size == 1 and ended:
            break
    found = [
        Hypothesis(ids, total, score(model, source, ids, total, settings), finished=True)
        for ids, total in ended.items()
    ]
    return sorted(found, key=lambda each: -each.score)[: settings.n_best]
