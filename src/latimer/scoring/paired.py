"""Paired tests: is the difference of two systems on the same lines more than chance?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric as Sacrebleu
from sacrebleu.significance import PairedTest

from latimer.scoring.metrics import check_counts, make_metrics, percent
from latimer.scoring.scores import Metric

SAMPLES = {"bs": 1000, "ar": 10_000}
"""Resamples of the paired bootstrap, and trials of the approximate randomisation."""
SEED = 12345
"""Sacrebleu's own, so that a difference has its interval from the resamples of its test."""


@dataclass(frozen=True)
class Difference:
    """A system's score minus the first system's.

    Attributes:
        score: the difference, in percent as the scores.
        confidence: low and high end of its 95% interval, by paired bootstrap.
        p_bootstrap: how often chance alone makes a difference as large, by paired bootstrap.
        p_randomisation: likewise, by approximate randomisation. Both are two-sided.
    """

    score: float
    confidence: tuple[float, float]
    p_bootstrap: float
    p_randomisation: float


@dataclass(frozen=True)
class PairedScore:
    """A system's score; ``difference`` is None for the first system, which the others face."""

    metric: Metric
    difference: Difference | None


def paired_scores(
    systems: Sequence[Sequence[str]],
    references: Sequence[str],
    *,
    target_language: str,
    bleu_tokenizer: str | None = None,
    lowercase: bool = False,
) -> list[list[PairedScore]]:
    """Scores systems and tests each against the first, as the ``sacrebleu`` command does.

    That is with ``--paired-bs`` and ``--paired-ar``, but for systems that a metric cannot tell
    apart line by line: sacrebleu calls their difference of 0 significant, and here p is 1.

    Args:
        systems: the hypotheses of two or more systems, one text a sentence.
        references: the raw lines of the reference file, in the same order.
        target_language: chooses how words are found, as in :func:`~latimer.scoring.score`.
        bleu_tokenizer: one of sacrebleu's instead of the language's own.
        lowercase: compare without regard to case.

    Returns:
        First for BLEU, then for chrF2++, one entry for each system. (TER takes a minute to count.)

    Raises:
        LatimerError: unequal numbers of lines, no lines, or a tokenizer that is missing.
    """
    for hypotheses in systems:
        check_counts(hypotheses, references)
    bleu, chrf, _ = make_metrics(
        target_language, bleu_tokenizer=bleu_tokenizer, lowercase=lowercase
    )
    return [_compare(metric, systems, references) for metric in (bleu, chrf)]


def _compare(
    metric: Sacrebleu, systems: Sequence[Sequence[str]], references: Sequence[str]
) -> list[PairedScore]:
    resampled, by_bootstrap = _test(metric, systems, references, kind="bs")
    _, by_randomisation = _test(metric, systems, references, kind="ar")
    counts = [counts_of_lines(metric, hypotheses, references) for hypotheses in systems]
    first, compared = resampled[0], [PairedScore(resampled[0], None)]
    for number in range(1, len(systems)):
        apart = not np.array_equal(counts[0], counts[number])
        difference = Difference(
            score=resampled[number].score - first.score,
            confidence=interval_of_difference(metric, counts[0], counts[number]),
            p_bootstrap=by_bootstrap[number] if apart else 1.0,
            p_randomisation=by_randomisation[number] if apart else 1.0,
        )
        compared.append(PairedScore(resampled[number], difference))
    return compared


def _test(
    metric: Sacrebleu, systems: Sequence[Sequence[str]], references: Sequence[str], *, kind: str
) -> tuple[list[Metric], list[Any]]:
    """Sacrebleu's test: scores, with intervals if resampled, and p-values (the first's is None)."""
    test = PairedTest(
        [(str(number), hypotheses) for number, hypotheses in enumerate(systems)],
        {kind: metric},
        references=[references],
        test_type=kind,
        n_samples=SAMPLES[kind],
    )
    signatures, results = test()
    ((name, signature),) = signatures.items()
    tested: list[Any] = results[name]
    metrics = [
        Metric(name, percent(result.score), str(signature), _around(result.mean, result.ci))
        for result in tested
    ]
    return metrics, [result.p_value for result in tested]


def _around(mean: float | None, half: float | None) -> tuple[float, float] | None:
    if mean is None or half is None:
        return None
    return percent(mean - half), percent(mean + half)


def counts_of_lines(
    metric: Sacrebleu, hypotheses: Sequence[str], references: Sequence[str]
) -> NDArray[Any]:
    """What a metric counts in each line; the rows add up to the counts of the corpus."""
    return np.array(metric._extract_corpus_statistics(hypotheses, [references]))


def interval_of_difference(
    metric: Sacrebleu, first: NDArray[Any], other: NDArray[Any]
) -> tuple[float, float]:
    """The middle 95% of the differences of two systems on the same resampled lines."""
    lines = len(first)
    chosen = np.random.default_rng(SEED).choice(lines, size=(SAMPLES["bs"], lines))
    differences = [
        metric._compute_score_from_stats(other[rows].sum(0)).score
        - metric._compute_score_from_stats(first[rows].sum(0)).score
        for rows in chosen
    ]
    low, high = np.percentile(differences, (2.5, 97.5))
    return float(low), float(high)
