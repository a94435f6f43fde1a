"""A test set scored by sacrebleu: detokenised text against the raw reference lines."""

from collections.abc import Sequence

from sacrebleu.metrics.base import Metric as Sacrebleu
from sacrebleu.metrics.base import Score

from latimer.scoring.metrics import check_counts, make_metrics, percent
from latimer.scoring.notes import notes_on
from latimer.scoring.scores import Metric, Scores


def score(  # noqa: PLR0913 (what a signature holds, by name)
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str,
    bootstrap: int = 1000,
    bleu_tokenizer: str | None = None,
    lowercase: bool = False,
) -> Scores:
    """BLEU, chrF2++ and TER of a whole test set, as the ``sacrebleu`` command prints them.

    Empty hypotheses count as what they are. Older papers' lower-cased, tokenised BLEU is
    ``bleu_tokenizer="none", lowercase=True`` on text that is tokenised already; the signature
    tells.

    Args:
        hypotheses: one text a sentence.
        references: the raw lines of the reference file, in the same order.
        target_language: chooses how words are found (see :func:`require_tokenizer`).
        bootstrap: resamples behind the 95% intervals, seeded by sacrebleu (``SACREBLEU_SEED``,
            12345 by default); 0 for no intervals.
        bleu_tokenizer: one of sacrebleu's instead of the language's own.
        lowercase: compare without regard to case, as TER always does.

    Raises:
        LatimerError: unequal numbers of lines, no lines, or a tokenizer that is missing.
    """
    check_counts(hypotheses, references)
    metrics = make_metrics(target_language, bleu_tokenizer=bleu_tokenizer, lowercase=lowercase)
    # One list of references, with one entry a sentence: any other shape scores nonsense in silence.
    results = [
        metric.corpus_score(hypotheses, [references], n_bootstrap=max(bootstrap, 1))
        for metric in metrics
    ]
    bleu, chrf, ter = map(as_metric, metrics, results)
    return Scores(
        bleu=bleu,
        chrf=chrf,
        ter=ter,
        n=len(hypotheses),
        length_ratio=results[0].ratio,
        notes=notes_on(hypotheses, matching_four_grams=results[0].counts[3]),
    )


def bleu_score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str,
    bleu_tokenizer: str | None = None,
    lowercase: bool = False,
) -> float:
    """BLEU alone, from 0 to 100; arguments and errors as in :func:`score`."""
    check_counts(hypotheses, references)
    bleu, _, _ = make_metrics(target_language, bleu_tokenizer=bleu_tokenizer, lowercase=lowercase)
    return percent(bleu.corpus_score(hypotheses, [references]).score)


def as_metric(metric: Sacrebleu, result: Score) -> Metric:
    """A figure of sacrebleu's, with its interval where it was resampled."""
    confidence = None
    if metric.n_bootstrap:
        # sacrebleu shows the interval nowhere but in formatted text, as mean ± half of its width.
        mean, half = float(result._mean), float(result._ci)
        confidence = (percent(mean - half), percent(mean + half))
    return Metric(result.name, percent(result.score), str(metric.get_signature()), confidence)
