"""Translating and scoring test sets: the same for ``evaluate.py`` and for the end of a training."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from datasets import Dataset

from latimer.checkpoint import LoadedModel
from latimer.evaluation.comet import Comet
from latimer.evaluation.comparison import Comparison, compare
from latimer.evaluation.diagnosis import write_report
from latimer.evaluation.evaluation import Evaluation, EvaluationSettings, System
from latimer.evaluation.files import report_path, write_result
from latimer.evaluation.report import show_results
from latimer.evaluation.result import Result
from latimer.screen import Screen


def evaluate_test_sets(
    loaded: LoadedModel,
    test_sets: Mapping[str, Dataset],
    settings: EvaluationSettings,
    *,
    folder: Path,
    screen: Screen,
) -> list[Result]:
    """:func:`evaluate_systems` for one model, with a report."""
    system = System(loaded.path.name, loaded, settings, folder)
    return evaluate_systems([system], test_sets, screen=screen)


def evaluate_systems(
    systems: Sequence[System],
    test_sets: Mapping[str, Dataset],
    *,
    screen: Screen,
    comet: Comet | None = None,
    report: bool = True,
) -> list[Result]:
    """Translates and scores test sets, writes their files and shows a table of all.

    No line is dropped, whatever it holds: as many are scored as the references have. Of several
    systems each is tested against the first one.

    Args:
        systems: the models, each with its settings; they are of one language pair, and scored in
            one way.
        test_sets: pairs by name, with the columns source and target.
        screen: where progress and the table are shown.
        comet: a model that scores as well, if any.
        report: whether a page is written, into the folder of the first system's result.

    Raises:
        LatimerError: the device, the tokenizer of the scores or the disk cannot be used.
    """
    evaluations = [Evaluation(system, comet) for system in systems]
    comparisons = [_evaluate(evaluations, name, pairs, screen) for name, pairs in test_sets.items()]
    results = [result for comparison in comparisons for result in comparison.results]
    show_results(results, screen)
    for comparison in comparisons:
        comparison.show(screen)
    if report:
        for comparison in comparisons:
            _report(evaluations, comparison, screen)
    return results


def _evaluate(
    evaluations: Sequence[Evaluation], name: str, pairs: Dataset, screen: Screen
) -> Comparison:
    """One test set, by all systems; each result is on the disk as soon as it is there."""
    results = []
    for evaluation in evaluations:
        what = f"{name}, {evaluation.system.name}" if len(evaluations) > 1 else name
        screen.print(f"translating {what}: {len(pairs):,} lines, {evaluation.described}")
        results.append(evaluation.result(name, pairs))
        write_result(results[-1])
    comparison = compare(results)
    for result in comparison.results[1:]:
        write_result(result)
    return comparison


def _report(evaluations: Sequence[Evaluation], comparison: Comparison, screen: Screen) -> None:
    path = report_path(comparison.results)
    translators = [evaluation.translator for evaluation in evaluations]
    write_report(path, comparison.results, translators, comparison.scores)
    screen.print(f"report: {path}")
