"""Minimum-Bayes-risk decoding: of several samples, the one that is most like all of them.

Kumar and Byrne (2004), with samples instead of an n-best list (Eikema and Aziz, 2020, arXiv
2005.10283).
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from latimer.decoding import Hypothesis, SamplingSettings
from latimer.decoding.settings import LengthSettings

UtilityName = Literal["chrf", "bleu"]
Utility = Callable[[Sequence[str]], NDArray[np.float64]]
"""Texts to the score of each (row) with each of them as the reference (column)."""


@dataclass(frozen=True, kw_only=True)
class MinimumRiskSettings(SamplingSettings):
    """How to draw samples, and how to compare them.

    Attributes:
        utility: "chrf" for chrF2++ of the sentence, "bleu" for its BLEU.

    Raises:
        LatimerError: naming every value out of its range.
    """

    method: ClassVar[str] = "minimum_risk"
    samples: int = 32
    utility: UtilityName = "chrf"

    @property
    def described(self) -> str:
        """What a reader of scores must know of it."""
        return f"minimum risk by {self.utility}, {super().described}"

    def _demands(self) -> list[tuple[bool, str]]:
        names = get_args(UtilityName)
        message = f"utility: {self.utility} is none of {', '.join(names)}"
        return [(self.utility in names, message), *super()._demands()]


def make_utility(settings: LengthSettings, target_language: str) -> Utility | None:
    """What compares the samples; None where the settings ask for no comparison.

    Raises:
        LatimerError: BLEU's tokenizer of the language is missing.
    """
    if not isinstance(settings, MinimumRiskSettings):
        return None
    # Only here, since sacrebleu takes its time to load, and no other translation needs it.
    from latimer.scoring import SentenceMetric  # noqa: PLC0415

    return SentenceMetric(settings.utility, target_language).table


def minimum_risk(
    samples: Sequence[Hypothesis], texts: Sequence[str], utility: Utility
) -> list[Hypothesis]:
    """The different texts, that with the highest expected utility first; it becomes their score.

    The expected utility of a text is its mean score with each of the samples as the reference,
    itself included; a text that was drawn twice is two references, but is compared once. Of texts
    with the same one, the one drawn earlier comes first.

    Args:
        samples: as they were drawn.
        texts: what each of them says.
        utility: how like another a text is.
    """
    drawn, first = Counter(texts), dict[str, Hypothesis]()
    for text, hypothesis in zip(texts, samples, strict=True):
        first.setdefault(text, hypothesis)
    expected = [
        # Exact sums, so that texts with the same scores in another order are equal.
        math.fsum(score * count for score, count in zip(row, drawn.values(), strict=True))
        for row in utility(list(drawn)).tolist()
    ]
    ranked = sorted(zip(first.values(), expected, strict=True), key=lambda pair: -pair[1])
    return [replace(hypothesis, score=total / len(texts)) for hypothesis, total in ranked]
