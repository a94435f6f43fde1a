"""What a search finds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """One translation, as pieces, and what the model thinks of it.

    Attributes:
        ids: the pieces, without bos and eos.
        log_probability: sum of the natural logarithms of every piece's probability, eos included.
        score: ``log_probability`` / ((5 + L) / 6)^α with L = pieces + eos; hypotheses are ranked
            by it.
        finished: False when the length limit ended it where the model would rather have gone on.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float
    finished: bool
