"""Several systems on one test set: is what sets them apart from the first one more than chance?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from latimer.evaluation.compare_tables import show_tests
from latimer.evaluation.result import Result
from latimer.scoring import ABOUT_P, Difference, PairedScore, paired_scores
from latimer.screen import Screen


@dataclass(frozen=True)
class Comparison:
    """The results of one test set.

    Attributes:
        results: one for each system, first the one that the others are tested against.
        scores: for BLEU and chrF2++ in turn, one entry for each system; empty without tests.
    """

    results: Sequence[Result]
    scores: Sequence[Sequence[PairedScore]] = ()

    def show(self, screen: Screen) -> None:
        """A table of the tests, if there are any."""
        if self.scores:
            first, names = self.results[0], [result.system for result in self.results]
            title = f"{first.test_set}: {len(first.references):,} lines, tested against {names[0]}"
            show_tests(title, "system", names, self.scores, screen)
            screen.print(ABOUT_P)


def compare(results: Sequence[Result]) -> Comparison:
    """Tests systems against the first one, unless there is one alone or no resampling is wanted.

    Args:
        results: of the same test set, scored in the same way.

    Returns:
        The tests, and the results with what they say about each.
    """
    first = results[0]
    if len(results) == 1 or not first.origin["scoring"]["bootstrap"]:
        return Comparison(results)
    scores = paired_scores(
        [result.texts for result in results],
        first.references,
        target_language=first.about["target_language"],
        bleu_tokenizer=first.origin["scoring"]["bleu_tokenizer"],
        lowercase=first.origin["scoring"]["lowercase"],
        bootstrap=first.origin["scoring"]["bootstrap"],
    )
    tested = [
        replace(result, compared_with=_as_json(first, [systems[number] for systems in scores]))
        for number, result in enumerate(results)
        if number > 0
    ]
    return Comparison([first, *tested], scores)


def _as_json(first: Result, scores: Sequence[PairedScore]) -> dict[str, Any]:
    """What ``result.json`` tells of the tests: which system is the first, and the differences."""
    return {
        "checkpoint": first.about["checkpoint"],
        "checkpoint_sha256": first.origin["checkpoint_sha256"],
        "result": str(first.folder.absolute()),
        "differences": {
            score.metric.name: _difference_as_json(score.difference)
            for score in scores
            if score.difference
        },
    }


def _difference_as_json(difference: Difference) -> dict[str, Any]:
    return {
        "score": difference.score,
        "confidence_95": list(difference.confidence),
        "lines_that_differ": difference.lines,
        "p_bootstrap": difference.p_bootstrap,
        "p_randomisation": difference.p_randomisation,
    }
