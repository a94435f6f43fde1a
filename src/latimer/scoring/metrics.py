"""Sacrebleu's metrics, set up for a target language; what every score and every test is made of."""

import math
from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics.base import Metric as Sacrebleu
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from latimer.errors import LatimerError
from latimer.scoring.tokenizers import has_no_spaces, require_tokenizer


def make_metrics(
    target_language: str, *, bleu_tokenizer: str | None, lowercase: bool
) -> tuple[BLEU, CHRF, TER]:
    """BLEU, chrF2++ and TER.

    Raises:
        LatimerError: a tokenizer that is missing.
    """
    words = require_tokenizer(target_language, bleu_tokenizer)
    characters = CHRF(word_order=2, lowercase=lowercase)
    edits = _edit_rate(target_language)
    for metric in (characters, edits):
        _take_plain_counts(metric)
    return BLEU(tokenize=words, lowercase=lowercase, force=True), characters, edits


LineCounts = dict[tuple[str, str], Any]
"""What a metric counts in each hypothesis with its reference."""


def remember_lines(metric: Sacrebleu, known: LineCounts) -> None:
    """Lets a metric with one reference a line count no line that is known, and add all others.

    The groups of a page share their lines: so one about 1,000 lines took 0.7 s instead of 2.4.
    """
    count = metric._extract_corpus_statistics

    def remembered(
        hypotheses: Sequence[str], references: Sequence[Sequence[str]] | None
    ) -> list[Any]:
        assert references is not None
        pairs = list(zip(hypotheses, references[0], strict=True))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        known.update(zip(new, count([h for h, _ in new], [[r for _, r in new]]), strict=True))
        metric.num_refs = 1
        return [known[pair] for pair in pairs]

    metric._extract_corpus_statistics = remembered  # type: ignore[method-assign]


def check_counts(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Refuses what sacrebleu would score in silence.

    Raises:
        LatimerError: unequal numbers of lines (sacrebleu scores the shorter part), or no lines.
    """
    if len(hypotheses) != len(references):
        raise LatimerError(
            f"{len(hypotheses)} hypotheses cannot be scored against {len(references)} references: "
            "there must be one of each for every sentence"
        )
    if not references:
        raise LatimerError("there is nothing to score: the test set has no sentences")


def percent(value: float) -> float:
    """The value itself, but for a perfect BLEU, which sacrebleu gives as 100.00000000000004."""
    return 100.0 if math.isclose(value, 100.0, rel_tol=1e-12) else float(value)


def _edit_rate(target_language: str) -> TER:
    """TER in words, or in characters where no spaces set words apart."""
    characters = has_no_spaces(target_language)
    return TER(normalized=characters, asian_support=characters)


def _take_plain_counts(metric: Sacrebleu) -> None:
    """Lets a metric average resamplings, whose scores would be float32 beside its own 0.0."""
    compute = metric._compute_score_from_stats
    metric._compute_score_from_stats = lambda stats: compute([float(n) for n in stats])  # type: ignore[method-assign]
