"""One step of beam search for all sentences and beams: what may come next, what goes on, what ends.

Ends compete with longer prefixes: a hypothesis has ended when it is among the K best continuations
of its sentence. The K best prefixes go on besides, so that an end takes no beam's place.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from latimer.decoding.beams import Beams, Ended
from latimer.decoding.lengths import penalty
from latimer.decoding.settings import SearchSettings, SpecialIds

IMPOSSIBLE = -1e30  # finite: an end that the limit forces is a hypothesis, however improbable


class Choices(NamedTuple):
    """Log-probabilities of what may come next in each beam.

    Attributes:
        ids: (B, K, C) long, the C most probable pieces, best first.
        pieces: (B, K, C) float32, of these pieces.
        end: (B, K) float32, of eos.
    """

    ids: Tensor
    pieces: Tensor
    end: Tensor


def score(logits: Tensor, count: int, special_ids: SpecialIds) -> Choices:
    """The ``count`` most probable pieces of each beam, and eos, from logits (B, K, V).

    Pieces that no hypothesis may hold take part in the softmax, so that log-probabilities are the
    model's own.
    """
    log_probabilities = logits.float().log_softmax(dim=-1)
    end = log_probabilities[..., special_ids.eos].clone()
    log_probabilities[..., [*special_ids.forbidden, special_ids.eos]] = -math.inf
    best = log_probabilities.topk(min(count, logits.shape[-1]), dim=-1)
    return Choices(best.indices, best.values, end)


def select(live: Beams, choices: Choices, at_limit: Tensor, beam_size: int) -> tuple[Beams, Tensor]:
    """The K best prefixes that are one piece longer, and the beams (B, K) that they continue.

    Args:
        live: the prefixes so far.
        choices: what may come next.
        at_limit: (B,) bool, sentences whose prefixes may not become longer.
        beam_size: K.
    """
    totals = (live.log_probabilities.unsqueeze(2) + choices.pieces).flatten(1)
    totals = totals.masked_fill(at_limit.unsqueeze(1), -math.inf)
    totals, order = totals.sort(dim=1, descending=True, stable=True)
    order = order[:, :beam_size]
    parents = order // choices.ids.shape[2]
    ids = choices.ids.flatten(1).gather(1, order)
    return live.extend(parents, ids, totals[:, :beam_size]), parents


def end(
    live: Beams, choices: Choices, longer: Beams, at_limit: Tensor, settings: SearchSettings
) -> Ended:
    """The hypotheses that eos makes of the prefixes so far, an empty place where it does not.

    Args:
        live: the prefixes so far.
        choices: what may come next.
        longer: the prefixes that go on, against which ends compete.
        at_limit: (B,) bool, sentences whose prefixes must end now.
        settings: how to search.
    """
    forced = choices.end.clamp(min=IMPOSSIBLE)
    totals = live.log_probabilities + forced.where(at_limit.unsqueeze(1), choices.end)
    if live.length < settings.min_length:
        totals = torch.full_like(totals, -math.inf)
    rivals = torch.cat([totals, longer.log_probabilities], dim=1)
    weakest = rivals.topk(min(settings.beam_size, rivals.shape[1])).values[:, -1:]
    scores = totals / penalty(live.length + 1, settings.length_penalty)
    return Ended(
        ids=live.pieces,
        lengths=torch.full_like(live.last_ids, live.length),
        log_probabilities=totals,
        scores=scores.where(totals >= weakest, -math.inf),
        finished=~at_limit.unsqueeze(1) | (choices.end >= choices.pieces[..., 0]),
    )


def is_settled(live: Beams, kept: Ended, limits: Tensor, settings: SearchSettings) -> Tensor:
    """The sentences, (B,) bool, in which no beam can beat the worst kept hypothesis any more.

    A log-probability can only fall, and divides by most at the length limit: no descendant of a
    beam scores above the beam's own log-probability divided by the penalty of that length.
    """
    attainable = live.log_probabilities[:, 0] / penalty(limits + 1, settings.length_penalty)
    settled = attainable <= kept.worst_scores
    if settings.beam_size == 1:
        # Greedy search takes the first end for the end, though a longer text might score better.
        settled |= kept.worst_scores > -math.inf
    return settled
