"""How translations are scored: the same in validation, at the end of a run and in evaluate.py."""

from collections.abc import Mapping
from typing import Any, Literal

from latimer.config.base import Section
from latimer.config.check import check

BleuTokenizer = Literal[
    "13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none", "flores101", "flores200"
]


class ScoringConfig(Section):
    """How a run's translations are scored.

    Attributes:
        bleu_tokenizer: sacrebleu's tokenizer; None for the target language's.
        lowercase: whether BLEU, chrF and TER ignore case.
    """

    bleu_tokenizer: BleuTokenizer | None
    lowercase: bool


WITHOUT_SECTION = {"bleu_tokenizer": None, "lowercase": False}
"""How a run scored that was made before there was such a section."""


def stored_scoring(config: Mapping[str, Any]) -> ScoringConfig:
    """How a run scored, from the configuration in its checkpoint.

    Raises:
        LatimerError: it makes no sense.
    """
    return check(config.get("scoring", WITHOUT_SECTION), ScoringConfig)
