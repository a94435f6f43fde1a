"""What the screen shows of results."""

from collections.abc import Sequence

from latimer.evaluation.doubts import doubts
from latimer.evaluation.files import REFERENCES, RESULT, TRANSLATIONS
from latimer.evaluation.result import Result
from latimer.scoring import Metric
from latimer.screen import Screen

COLUMNS = ("test set", "lines", "BLEU (95%)", "chrF2++", "TER", "length ratio", "copy BLEU")


def show_results(results: Sequence[Result], screen: Screen) -> None:
    """A table of the scores; then what to know about each test set, and where its files are."""
    several = len({result.system for result in results}) > 1
    columns = (*COLUMNS[:1], "system", *COLUMNS[1:]) if several else COLUMNS
    screen.table("test sets", columns, [_row(result, several) for result in results])
    for result in results:
        bleu = result.scores.bleu
        what = f"{result.test_set}, {result.system}" if several else result.test_set
        screen.print(f"{what}: BLEU {bleu.score:.2f} {bleu.signature}")
        counts = {what: number for what, number in result.counts().items() if number}
        if counts:
            kinds = (f"{number:,} {what.replace('_', ' ')}" for what, number in counts.items())
            screen.print(f"  {', '.join(kinds)}")
        for note in result.scores.notes:
            screen.print(f"  note: {note}")
        for doubt in doubts(result):
            screen.print(f"  warning: {doubt}")
        screen.print(f"  files: {result.folder}: {TRANSLATIONS}, {REFERENCES}, {RESULT}")


def _row(result: Result, several: bool) -> list[str]:
    scores = result.scores
    return [
        result.test_set,
        *([result.system] if several else []),
        f"{len(result.references):,}",
        _with_interval(scores.bleu),
        f"{scores.chrf.score:.2f}",
        f"{scores.ter.score:.2f}",
        f"{scores.length_ratio:.3f}",
        f"{result.copy_bleu:.2f}",
    ]


def _with_interval(metric: Metric) -> str:
    if metric.confidence is None:
        return f"{metric.score:.2f}"
    low, high = metric.confidence
    return f"{metric.score:.2f} ({low:.1f} to {high:.1f})"
