"""One step of beam search for all sentences and beams: what may come next, what goes on, what ends.

Ends compete with longer prefixes: a hypothesis has ended when it is among the K best continuations
of its sentence. The K best prefixes go on besides, so that an end takes no beam's place. With G
groups, each is a search of its own with K / G beams, but that it shuns what the groups before it
have chosen at the same step.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from latimer.decoding.beams import Beams, Ended
from latimer.decoding.coverage import uncovered
from latimer.decoding.lengths import penalty
from latimer.decoding.most_probable import most_probable
from latimer.decoding.prefixes import Prefixes
from latimer.decoding.repeats import forbid_repeats
from latimer.decoding.settings import SearchSettings, SpecialIds

IMPOSSIBLE = -1e30  # finite: what is forced makes a hypothesis, however improbable


class Choices(NamedTuple):
    """Log-probabilities of what may come next in each beam.

    Attributes:
        ids: (B, K, C) long, the C most probable pieces, best first.
        pieces: (B, K, C) float32, of these pieces; -inf where a piece is forbidden.
        end: (B, K) float32, of eos.
        wanted: (B, K) float32, of the piece that would be best if it might repeat an n-gram.
    """

    ids: Tensor
    pieces: Tensor
    end: Tensor
    wanted: Tensor


def score(
    log_probabilities: Tensor, live: Beams, settings: SearchSettings, special_ids: SpecialIds
) -> Choices:
    """The K most probable pieces of each beam, and eos, from log-probabilities (B, K, V).

    These are the model's own, and are changed in place: of pieces that no hypothesis may hold, to
    -inf.
    """
    end = log_probabilities[..., special_ids.eos].clone()
    log_probabilities[..., [*special_ids.forbidden, special_ids.eos]] = -math.inf
    wanted = None
    if settings.no_repeat_ngram:
        wanted = log_probabilities.amax(dim=-1)
        forbid_repeats(log_probabilities, live.pieces, settings.no_repeat_ngram, special_ids.pad)
    count = min(settings.beam_size, log_probabilities.shape[-1])
    pieces, ids = most_probable(log_probabilities, count)
    return Choices(ids, pieces, end, pieces[..., 0] if wanted is None else wanted)


def follow(prefixes: Prefixes, choices: Choices, logits: Tensor, live: Beams) -> Choices:
    """The choices where a prefix is given: its next piece and nothing else, whatever is forbidden.

    Args:
        prefixes: what is given.
        choices: what might come next otherwise; they are changed in place.
        logits: (B, K, V), of the live beams.
        live: the prefixes so far.
    """
    sentences, pieces = prefixes.next(live.length)
    if len(sentences):
        own = logits[sentences].float().log_softmax(dim=-1)
        given = own[torch.arange(len(own), device=own.device), :, pieces]
        choices.ids[sentences] = pieces[:, None, None]
        choices.pieces[sentences] = -math.inf
        choices.pieces[sentences, :, 0] = given.clamp(min=IMPOSSIBLE)
        choices.end[sentences] = -math.inf
    return choices


def select(
    live: Beams, choices: Choices, at_limit: Tensor, settings: SearchSettings
) -> tuple[Beams, Tensor]:
    """The K best prefixes that are one piece longer, and the beams (B, K) that they continue.

    Args:
        live: the prefixes so far.
        choices: what may come next.
        at_limit: (B,) bool, sentences whose prefixes may not become longer.
        settings: how to search.
    """
    totals = live.log_probabilities.unsqueeze(2) + choices.pieces
    totals = _by_group(totals.masked_fill(at_limit[:, None, None], -math.inf), settings)
    ids = _by_group(choices.ids, settings)
    orders = _choose(totals, ids, settings)
    beams, candidates = choices.ids.shape[1:]
    first_beams = torch.arange(0, beams, beams // settings.beam_groups, device=ids.device)
    parents = (orders // candidates + first_beams.unsqueeze(1)).flatten(1)
    chosen = (each.gather(2, orders).flatten(1) for each in (ids, totals))
    return live.extend(parents, *chosen), parents


def _choose(totals: Tensor, ids: Tensor, settings: SearchSettings) -> Tensor:
    """Which candidates of each group go on: (B, G, C) to (B, G, K / G), the best first.

    Every group is diverse from those before it by the Hamming distance of this step alone.
    """
    size = settings.beam_size // settings.beam_groups
    orders: list[Tensor] = []
    taken = ids.new_empty(len(ids), 0)
    for own_totals, own_ids in zip(totals.unbind(1), ids.unbind(1), strict=True):
        ranked = own_totals
        if orders:
            times_taken = (own_ids.unsqueeze(2) == taken.unsqueeze(1)).sum(dim=2)
            ranked = own_totals - settings.diversity_penalty * times_taken
        ranked, order = ranked.sort(dim=1, descending=True, stable=True)
        orders.append(order[:, :size])
        if len(orders) < settings.beam_groups:
            newest = own_ids.gather(1, orders[-1]).where(ranked[:, :size] > -math.inf, -1)
            taken = torch.cat([taken, newest], dim=1)
    return torch.stack(orders, dim=1)


def _by_group(field: Tensor, settings: SearchSettings) -> Tensor:
    """(B, K, …) to (B, G, all that belongs to the group)."""
    return field.reshape(len(field), settings.beam_groups, -1)


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
    must_end = at_limit.unsqueeze(1) | (choices.pieces[..., 0] == -math.inf)
    forced = choices.end.clamp(min=IMPOSSIBLE)
    totals = live.log_probabilities + forced.where(must_end, choices.end)
    if live.length < settings.min_length:
        totals = totals.where(must_end, -math.inf)
    scores = totals / penalty(live.length + 1, settings.length_penalty)
    if settings.coverage_penalty:
        scores = scores + settings.coverage_penalty * uncovered(live.coverage)
    scores = scores.where(_are_among_the_best(totals, longer, settings), -math.inf)
    if settings.beam_groups > 1:
        scores = scores.masked_fill(_are_there_before(live.ids, scores > -math.inf), -math.inf)
    return Ended(
        ids=live.pieces,
        lengths=torch.full_like(live.last_ids, live.length),
        log_probabilities=totals,
        scores=scores,
        finished=~must_end | (choices.end >= choices.wanted),
    )


def _are_among_the_best(totals: Tensor, longer: Beams, settings: SearchSettings) -> Tensor:
    """Which ends, (B, K) bool, are among the K / G best continuations of their group."""
    ends = _by_group(totals, settings)
    rivals = torch.cat([ends, _by_group(longer.log_probabilities, settings)], dim=2)
    size = min(settings.beam_size // settings.beam_groups, rivals.shape[2])
    return (ends >= rivals.topk(size).values[..., -1:]).flatten(1)


def _are_there_before(ids: Tensor, kept: Tensor) -> Tensor:
    """Which prefixes, (B, K) bool, an earlier group holds as well, where it is kept."""
    alike = (ids.unsqueeze(2) == ids.unsqueeze(1)).all(dim=-1)
    return (alike & kept.unsqueeze(1)).tril(diagonal=-1).any(dim=2)


def is_settled(live: Beams, kept: Ended, limits: Tensor, settings: SearchSettings) -> Tensor:
    """The sentences, (B,) bool, in which no beam can beat the worst kept hypothesis any more.

    A log-probability can only fall, and divides by most at the length limit; a coverage penalty
    only takes away. So no descendant of a beam scores above the beam's own log-probability divided
    by the penalty of that length.
    """
    best = live.log_probabilities.amax(dim=1)
    settled = best / penalty(limits + 1, settings.length_penalty) <= kept.worst_scores
    if settings.beam_size == 1:
        # Greedy search takes the first end for the end, though a longer text might score better.
        settled |= kept.worst_scores > -math.inf
    return settled
