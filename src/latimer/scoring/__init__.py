"""Strings in, numbers out: the only room that knows sacrebleu."""

from latimer.scoring.corpus_score import score
from latimer.scoring.paired import Difference, PairedScore, paired_scores
from latimer.scoring.scores import Metric, Scores
from latimer.scoring.sentences import SentenceMetric
from latimer.scoring.tokenizers import require_tokenizer

__all__ = [
    "Difference",
    "Metric",
    "PairedScore",
    "Scores",
    "SentenceMetric",
    "paired_scores",
    "require_tokenizer",
    "score",
]
