"""What a search finds."""

from dataclasses import dataclass

NO_PROBABILITIES = (
    "no translation has a probability: the model's weights are damaged or not numbers (NaN), as "
    "after a training that diverged"
)


@dataclass(frozen=True)
class Hypothesis:
    """One translation, as pieces, and what the model thinks of it.

    Attributes:
        ids: the pieces, without bos and eos; those of a given prefix among them.
        log_probability: sum of the natural logarithms of every piece's probability, eos included:
            the model's own, as forced decoding gives them, whatever the search forbade.
        score: what hypotheses are ranked by: ``log_probability`` / penalty + β · uncovered. The
            penalty is ((5 + L) / 6)^α, or L for "average", with L = pieces + eos; what is uncovered
            is defined in :mod:`latimer.decoding.coverage`. A sample's is its log-probability, and
            with minimum risk its expected utility.
        finished: False when the length limit, or the want of a piece that repeats nothing, ended it
            where the model would rather have gone on.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float
    finished: bool
