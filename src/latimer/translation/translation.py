"""What a translator gives back."""

from dataclasses import dataclass

from latimer.decoding import Hypothesis


@dataclass(frozen=True)
class Translation:
    """What became of one line.

    Attributes:
        text: the best hypothesis as raw text, one line; empty for a blank source.
        hypotheses: the ``n_best`` ones that were found, best first; none for a blank source.
        cut: whether the source was longer than the model's positions, and lost its end.
    """

    text: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    cut: bool = False
