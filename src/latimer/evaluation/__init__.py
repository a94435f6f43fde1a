"""Checkpoints and test sets in; scores, translations and result files out."""

from latimer.evaluation.doubts import doubt_sameness
from latimer.evaluation.evaluation import EvaluationSettings
from latimer.evaluation.labels import bleu_name
from latimer.evaluation.result import Result
from latimer.evaluation.run import evaluate
from latimer.evaluation.test_sets import evaluate_test_sets

__all__ = [
    "EvaluationSettings",
    "Result",
    "bleu_name",
    "doubt_sameness",
    "evaluate",
    "evaluate_test_sets",
]
