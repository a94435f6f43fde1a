"""Strings in, numbers out: the only room that knows sacrebleu."""

from latimer.scoring.corpus_score import bleu_score, score
from latimer.scoring.paired import ABOUT_P, Difference, PairedScore, paired_scores
from latimer.scoring.parts import GroupScore, PartScorer
from latimer.scoring.scores import Metric, Scores
from latimer.scoring.sentences import SentenceMetric
from latimer.scoring.tokenizers import has_no_spaces, require_tokenizer

__all__ = [
    "ABOUT_P",
    "Difference",
    "GroupScore",
    "Metric",
    "PairedScore",
    "PartScorer",
    "Scores",
    "SentenceMetric",
    "bleu_score",
    "has_no_spaces",
    "paired_scores",
    "require_tokenizer",
    "score",
]
