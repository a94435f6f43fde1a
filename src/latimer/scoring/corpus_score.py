"""The one function that calls sacrebleu: detokenised text against the raw reference lines."""

import math
from collections.abc import Sequence

from sacrebleu.metrics.base import Metric as Sacrebleu
from sacrebleu.metrics.base import Score
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from latimer.errors import LatimerError
from latimer.scoring.notes import notes_on
from latimer.scoring.scores import Metric, Scores
from latimer.scoring.tokenizers import base_language, require_tokenizer

WITHOUT_SPACES = ("zh", "ja")


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
    _check_counts(hypotheses, references)
    words = require_tokenizer(target_language, bleu_tokenizer)
    metrics = (
        BLEU(tokenize=words, lowercase=lowercase, force=True),
        _with_plain_counts(CHRF(word_order=2, lowercase=lowercase)),
        _with_plain_counts(_edit_rate(target_language)),
    )
    # One list of references, with one entry a sentence: any other shape scores nonsense in silence.
    results = [
        metric.corpus_score(hypotheses, [references], n_bootstrap=max(bootstrap, 1))
        for metric in metrics
    ]
    bleu, chrf, ter = map(_as_metric, metrics, results)
    return Scores(
        bleu=bleu,
        chrf=chrf,
        ter=ter,
        n=len(hypotheses),
        length_ratio=results[0].ratio,
        notes=notes_on(hypotheses, matching_four_grams=results[0].counts[3]),
    )


def _check_counts(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    # sacrebleu scores the shorter part without a word.
    if len(hypotheses) != len(references):
        raise LatimerError(
            f"{len(hypotheses)} hypotheses cannot be scored against {len(references)} references: "
            "there must be one of each for every sentence"
        )
    if not references:
        raise LatimerError("there is nothing to score: the test set has no sentences")


def _edit_rate(target_language: str) -> TER:
    """TER in words, or in characters where no spaces set words apart."""
    characters = base_language(target_language) in WITHOUT_SPACES
    return TER(normalized=characters, asian_support=characters)


def _with_plain_counts(metric: Sacrebleu) -> Sacrebleu:
    """The metric, but able to average resamplings whose scores are float32 and its own 0.0."""
    compute = metric._compute_score_from_stats
    metric._compute_score_from_stats = lambda stats: compute([float(n) for n in stats])  # type: ignore[method-assign]
    return metric


def _as_metric(metric: Sacrebleu, result: Score) -> Metric:
    confidence = None
    if metric.n_bootstrap:
        # sacrebleu shows the interval nowhere but in formatted text, as mean ± half of its width.
        mean, half = float(result._mean), float(result._ci)
        confidence = (_percent(mean - half), _percent(mean + half))
    return Metric(result.name, _percent(result.score), str(metric.get_signature()), confidence)


def _percent(value: float) -> float:
    """The value itself, but for a perfect BLEU, which sacrebleu gives as 100.00000000000004."""
    return 100.0 if math.isclose(value, 100.0, rel_tol=1e-12) else float(value)
