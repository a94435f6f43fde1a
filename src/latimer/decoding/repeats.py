"""No n-gram twice in a hypothesis."""

import math

from torch import Tensor


def forbid_repeats(log_probabilities: Tensor, prefixes: Tensor, size: int, pad_id: int) -> None:
    """Makes each piece impossible that would repeat an n-gram of its prefix; in place.

    Args:
        log_probabilities: (B, K, V), of what may come next.
        prefixes: (B, K, t) long, the pieces so far.
        size: n; 0 forbids nothing.
        pad_id: a piece that is impossible already.
    """
    length = prefixes.shape[2]
    if not size or length < size:
        return
    ngrams = prefixes.unfold(2, size, 1)
    newest = prefixes[:, :, length - size + 1 :].unsqueeze(2)
    begins_alike = (ngrams[..., :-1] == newest).all(dim=-1)
    log_probabilities.scatter_(2, ngrams[..., -1].where(begins_alike, pad_id), -math.inf)
