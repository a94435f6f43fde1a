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

TRIALS = 10_000
"""Of the approximate randomisation, as in sacrebleu."""
SEED = 12345
"""Sacrebleu's own, so that a difference has its interval from the resamples of its test."""
ABOUT_P = (
    "p: how often chance alone would do more, as sacrebleu computes it. The randomisation "
    "exchanges lines of the two systems at random. The bootstrap resamples lines, and takes "
    "absolute differences less their mean, which makes p too low where a difference is small: "
    "where the two disagree, believe the randomisation. Intervals and p speak of other sentences "
    "of this kind, not of other seeds: those take more runs."
)


@dataclass(frozen=True)
class Difference:
    """A system's score minus the first system's.

    Attributes:
        score: the difference, in percent as the scores.
        confidence: low and high end of its 95% interval, by paired bootstrap.
        lines: in how many lines the metric finds other counts.
        p_bootstrap: how often chance alone would do more, by paired bootstrap.
        p_randomisation: likewise, by approximate randomisation. Both are two-sided.
    """

    score: float
    confidence: tuple[float, float]
    lines: int
    p_bootstrap: float
    p_randomisation: float


@dataclass(frozen=True)
class PairedScore:
    """A system's score; ``difference`` is None for the first system, which the others face."""

    metric: Metric
    difference: Difference | None


def paired_scores(  # noqa: PLR0913
    systems: Sequence[Sequence[str]],
    references: Sequence[str],
    *,
    target_language: str,
    bleu_tokenizer: str | None = None,
    lowercase: bool = False,
    bootstrap: int = 1000,
) -> list[list[PairedScore]]:
    """Scores systems and tests each against the first, as the ``sacrebleu`` command does.

    That is with ``--paired-bs`` and ``--paired-ar``, but for systems that differ in few lines.
    Sacrebleu counts only what is larger than the difference, not what equals it: so it calls a
    difference of 0 significant, where here p is 1, and one of two lines, which half of all
    exchanges make again. Of k lines, exchanging all or none gives the same: no p of a
    randomisation is less than 2 / 2^k here.

    Args:
        systems: the hypotheses of two or more systems, one text a sentence.
        references: the raw lines of the reference file, in the same order.
        target_language: chooses how words are found, as in :func:`~latimer.scoring.score`.
        bleu_tokenizer: one of sacrebleu's instead of the language's own.
        lowercase: compare without regard to case.
        bootstrap: resamplings, at least 1.

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
    return [_compare(metric, systems, references, bootstrap) for metric in (bleu, chrf)]


def _compare(
    metric: Sacrebleu,
    systems: Sequence[Sequence[str]],
    references: Sequence[str],
    bootstrap: int,
) -> list[PairedScore]:
    resampled, by_bootstrap = _test(metric, systems, references, "bs", bootstrap)
    _, by_randomisation = _test(metric, systems, references, "ar", TRIALS)
    counts = [counts_of_lines(metric, hypotheses, references) for hypotheses in systems]
    first, compared = resampled[0], [PairedScore(resampled[0], None)]
    for number in range(1, len(systems)):
        lines = int((counts[0] != counts[number]).any(axis=1).sum())
        least = min(1.0, 2.0 / 2.0**lines)
        difference = Difference(
            score=resampled[number].score - first.score,
            confidence=interval_of_difference(metric, counts[0], counts[number], bootstrap),
            lines=lines,
            p_bootstrap=by_bootstrap[number] if lines else 1.0,
            p_randomisation=max(by_randomisation[number], least),
        )
        compared.append(PairedScore(resampled[number], difference))
    return compared


def _test(
    metric: Sacrebleu,
    systems: Sequence[Sequence[str]],
    references: Sequence[str],
    kind: str,
    samples: int,
) -> tuple[list[Metric], list[Any]]:
    """Sacrebleu's test: scores, with intervals if resampled, and p-values (the first's is None)."""
    test = PairedTest(
        [(str(number), hypotheses) for number, hypotheses in enumerate(systems)],
        {kind: metric},
        references=[references],
        test_type=kind,
        n_samples=samples,
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
    metric: Sacrebleu, first: NDArray[Any], other: NDArray[Any], bootstrap: int
) -> tuple[float, float]:
    """The middle 95% of the differences of two systems on the same resampled lines."""
    lines = len(first)
    chosen = np.random.default_rng(SEED).choice(lines, size=(bootstrap, lines))
    differences = [
        metric._compute_score_from_stats(other[rows].sum(0)).score
        - metric._compute_score_from_stats(first[rows].sum(0)).score
        for rows in chosen
    ]
    low, high = np.percentile(differences, (2.5, 97.5))
    return float(low), float(high)
