"""Drawing the next piece: which pieces take part, and random numbers that belong to a sentence.

A random number is a function of the seed, the sentence's own pieces, the number of the sample and
the step, and of nothing else: no generator stands between a sentence and its neighbours.
"""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from latimer.decoding.settings import SamplingSettings

GAP = np.uint64(0x9E3779B97F4A7C15)  # between the states of a stream at two steps
ROUNDING = 1e-6  # of sums of float32 probabilities: 0.5 and 0.4 reach 0.9
FIRST_GUESS = 128  # pieces that mostly hold the nucleus


def streams(sentences: Iterable[Sequence[int]], samples: int, seed: int) -> NDArray[np.uint64]:
    """Where the random numbers of each sample of each sentence begin, (B, samples)."""
    digests = [hashlib.blake2b(repr((seed, [*ids])).encode(), digest_size=8) for ids in sentences]
    keys = np.frombuffer(b"".join(digest.digest() for digest in digests), dtype="<u8")
    return _mix(keys[:, None] ^ _mix(np.arange(samples, dtype=np.uint64)))


def uniform(starts: NDArray[np.uint64], step: int) -> NDArray[np.float64]:
    """The random number from 0 to below 1 that each stream has for a step, from 0 on."""
    mixed = _mix(starts + GAP * np.array([step + 1], dtype=np.uint64))
    return ((mixed >> np.uint64(12)) * 2.0**-52).astype(np.float64)


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea and Flood, 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def to_draw_from(log_probabilities: Tensor, settings: SamplingSettings) -> Tensor:
    """The weights with which pieces are drawn: temperature first, then top-k, then top-p.

    Args:
        log_probabilities: (…, V), of the pieces that may come next; -inf for the others.
        settings: ``top_p`` is a share of the probability that top-k has left.

    Returns:
        (…, V), 0 for what takes no part; the sum of the others need not be 1.
    """
    temperature = max(settings.temperature, torch.finfo(torch.float32).tiny)
    distance = log_probabilities - log_probabilities.amax(dim=-1, keepdim=True)
    weights = (distance / temperature).softmax(dim=-1)
    if settings.top_k:
        best, ids = weights.topk(min(settings.top_k, weights.shape[-1]), dim=-1)
    elif settings.top_p < 1:
        best, ids = _enough(weights, settings.top_p)
    else:
        return weights
    if settings.top_p < 1:
        whole = best.sum(dim=-1, keepdim=True) if settings.top_k else 1.0
        best = _smallest_set(best, settings.top_p * whole)
    # In the order of ids, where a difference in the last digit of two probabilities, as between
    # batches of different sizes, can't make them change places.
    return torch.zeros_like(weights).scatter(-1, ids, best)


def _enough(weights: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """So many of the most probable pieces, best first, that they are sure to reach the share."""
    count = min(FIRST_GUESS, weights.shape[-1])
    while True:
        best, ids = weights.topk(count, dim=-1)
        if count == weights.shape[-1] or bool((best.sum(dim=-1) >= share).all()):
            return best, ids
        count = min(4 * count, weights.shape[-1])


def _smallest_set(best: Tensor, wanted: Tensor | float) -> Tensor:
    """The weights, best first, with 0 for those that the better ones do not need to be enough."""
    before = best.cumsum(dim=-1) - best
    needed = before < wanted - ROUNDING
    needed[..., 0] = True
    return best.where(needed, 0.0)


def draw(weights: Tensor, numbers: NDArray[np.float64]) -> Tensor:
    """The piece that each random number falls on: (B, K, V) and (B, K) to (B, K) long."""
    # Apple's GPUs have no double precision.
    place = torch.device("cpu") if weights.device.type == "mps" else weights.device
    cumulative = weights.to(place).double().cumsum(dim=-1)
    reached = torch.from_numpy(numbers).to(place).unsqueeze(-1) * cumulative[..., -1:]
    drawn = torch.searchsorted(cumulative, reached, right=True)
    return drawn.squeeze(-1).to(weights.device)
