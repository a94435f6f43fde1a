"""What the length of a hypothesis does to its score, and how long it may become."""

from typing import TypeVar

from torch import Tensor

from latimer.decoding.settings import LengthPenalty, LengthSettings, SpecialIds

Length = TypeVar("Length", float, Tensor)


def penalty(length: Length, alpha: LengthPenalty) -> Length:
    """((5 + L) / 6)^α, by which a log-probability is divided (section 6.1; Wu et al., 2016).

    Never less for a longer hypothesis: the search's early end counts on it.

    Args:
        length: L, the pieces and the eos.
        alpha: α, with 0 the result is 1; or "average" for L itself.
    """
    if alpha == "average":
        return length
    return ((5.0 + length) / 6.0) ** alpha  # type: ignore[no-any-return]


def length_limits(source: Tensor, settings: LengthSettings, special_ids: SpecialIds) -> Tensor:
    """The most pieces of each sentence's hypotheses, from its own source ids (B, S); (B,) long."""
    counted = (source != special_ids.pad) & (source != special_ids.eos)
    # In double precision and on the CPU, since 1.1 · 10 pieces are 11 on every device.
    own = settings.max_length_factor * counted.sum(1).cpu().double() + settings.max_length_offset
    limits = own.long().clamp(min=settings.min_length, max=settings.max_length)
    return limits.to(source.device)
