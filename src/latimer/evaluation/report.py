"""What the screen shows of results."""

from collections.abc import Sequence

from latimer.evaluation.doubts import doubts
from latimer.evaluation.files import REFERENCES, RESULT, TRANSLATIONS
from latimer.evaluation.labels import bleu_name
from latimer.evaluation.result import Result
from latimer.scoring import Metric
from latimer.screen import Screen


def show_results(results: Sequence[Result], screen: Screen) -> None:
    """A table of the scores; then what to know about each test set, and where its files are."""
    if not results:
        return
    several = len({result.system for result in results}) > 1
    cells = [_cells(result, several) for result in results]
    # One result has all columns that another one has: they were scored in one way.
    screen.table("test sets", [*cells[0]], [[*row.values()] for row in cells])
    for result in results:
        bleu = result.scores.bleu
        what = f"{result.test_set}, {result.system}" if several else result.test_set
        screen.print(f"{what}: {bleu_name(bleu)} {bleu.score:.2f} {bleu.signature}")
        if result.comet:
            screen.print(f"{what}: COMET {result.comet.score:.2f} {result.comet.signature}")
        counts = {what: number for what, number in result.counts().items() if number}
        if counts:
            kinds = (f"{number:,} {what.replace('_', ' ')}" for what, number in counts.items())
            screen.print(f"  {', '.join(kinds)}")
        for note in result.notes:
            screen.print(f"  note: {note}")
        for doubt in doubts(result):
            screen.print(f"  warning: {doubt}")
        screen.print(f"  files: {result.folder}: {TRANSLATIONS}, {REFERENCES}, {RESULT}")


def _cells(result: Result, several: bool) -> dict[str, str]:
    """A row of the table, by the names of its columns."""
    scores = result.scores
    return {
        "test set": result.test_set,
        **({"system": result.system} if several else {}),
        "lines": f"{len(result.references):,}",
        f"{bleu_name(scores.bleu)}{_interval_of(scores.bleu)}": _with_interval(scores.bleu),
        "chrF2++": f"{scores.chrf.score:.2f}",
        "TER": f"{scores.ter.score:.2f}",
        **_comet(result.comet),
        "length ratio": f"{scores.length_ratio:.3f}",
        "copy BLEU": f"{result.copy_bleu:.2f}",
    }


def _comet(metric: Metric | None) -> dict[str, str]:
    return {f"COMET x 100{_interval_of(metric)}": _with_interval(metric)} if metric else {}


def _interval_of(metric: Metric) -> str:
    return " (95%)" if metric.confidence else ""


def _with_interval(metric: Metric) -> str:
    if metric.confidence is None:
        return f"{metric.score:.2f}"
    low, high = metric.confidence
    return f"{metric.score:.2f} ({low:.1f} to {high:.1f})"
