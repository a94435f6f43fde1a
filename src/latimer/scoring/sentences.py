"""Single sentences scored, one against its reference or all against each other."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from latimer.scoring.metrics import check_counts, percent
from latimer.scoring.tokenizers import require_tokenizer

SentenceMetricName = Literal["chrf", "bleu"]


class SentenceMetric:
    """chrF2++ or BLEU of a sentence, from 0 to 100, as sacrebleu's ``sentence_score`` gives it.

    BLEU counts only the orders of n-grams that have a match (``effective_order``), with the others
    smoothed exponentially.

    Args:
        name: "chrf" or "bleu".
        target_language: chooses how BLEU finds words (see
            :func:`~latimer.scoring.require_tokenizer`).

    Raises:
        LatimerError: a tokenizer that is missing.
    """

    def __init__(self, name: SentenceMetricName, target_language: str) -> None:
        self._metric: CHRF | BLEU
        if name == "chrf":
            self._metric = CHRF(word_order=2)
        else:
            words = require_tokenizer(target_language)
            self._metric = BLEU(tokenize=words, effective_order=True)

    def scores(self, hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
        """The score of each hypothesis against its reference.

        Raises:
            LatimerError: unequal numbers of lines, or no lines.
        """
        check_counts(hypotheses, references)
        return [self._score(*pair) for pair in zip(hypotheses, references, strict=True)]

    def table(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The score of each text (row) with each text as the reference (column), (n, n)."""
        if isinstance(self._metric, CHRF):
            return _chrf_table(self._metric, texts)
        scores = [[self._score(text, other) for other in texts] for text in texts]
        return np.array(scores, dtype=np.float64).reshape(len(texts), len(texts))

    def _score(self, hypothesis: str, reference: str) -> float:
        return percent(self._metric.sentence_score(hypothesis, [reference]).score)


def _chrf_table(metric: CHRF, texts: Sequence[str]) -> NDArray[np.float64]:
    """What ``sentence_score`` gives, but with the n-grams of each text counted once."""
    counted = [metric._extract_reference_info([text])["ref_ngrams"][0] for text in texts]
    size = len(texts)
    statistics = np.zeros((size, size, metric.order, 3), dtype=np.int64)
    for order, counters in enumerate(zip(*counted, strict=True)):
        totals = np.array([counter.total() for counter in counters])
        statistics[:, :, order, 0] = totals[:, None]
        statistics[:, :, order, 1] = totals[None, :]
        statistics[:, :, order, 2] = _matches(counters)
    rows = statistics.reshape(size * size, 3 * metric.order).tolist()
    scores = [percent(metric._compute_f_score(row)) for row in rows]
    return np.array(scores, dtype=np.float64).reshape(size, size)


def _matches(counters: Sequence[Counter[str]]) -> NDArray[np.int64]:
    """How many n-grams each two texts have in common, (n, n)."""
    columns = {ngram: column for column, ngram in enumerate(set().union(*counters))}
    counts = np.zeros((len(counters), len(columns)), dtype=np.int64)
    for row, counter in zip(counts, counters, strict=True):
        row[[columns[ngram] for ngram in counter]] = list(counter.values())
    return np.stack([np.minimum(row, counts).sum(axis=1) for row in counts])
