"""The tables of ``latimer compare``: what differs, and by how much it matters."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from latimer.evaluation.saved import SavedResult
from latimer.scoring import PairedScore
from latimer.screen import Screen

COLUMNS = ("value (95%)", "difference (95%)", "p, bootstrap", "p, randomisation")
NOT_THERE = "(none)"


def show_comparison(
    name: str,
    results: Sequence[SavedResult],
    compared: Sequence[Sequence[PairedScore]],
    screen: Screen,
) -> None:
    """What differs in the evaluations of a test set, and its scores with their tests."""
    show_differences(
        f"{name}: evaluations that differ", [_searched(result) for result in results], screen
    )
    lines = f"{len(results[0].references):,} lines"
    numbers = [str(number) for number in range(1, len(results) + 1)]
    show_tests(f"{name}: {lines}, tested against run 1", "run", numbers, compared, screen)


def show_tests(
    title: str,
    what: str,
    names: Sequence[str],
    compared: Sequence[Sequence[PairedScore]],
    screen: Screen,
) -> None:
    """Scores with their tests against the first of what is compared.

    Args:
        title: the table's.
        what: is compared: "run", or "system".
        names: one for each of them.
        compared: for one metric after the other, an entry for each of them.
        screen: where the table is shown.
    """
    rows = [
        [paired.metric.name if number == 0 else "", names[number], *_cells(paired)]
        for systems in compared
        for number, paired in enumerate(systems)
    ]
    screen.table(title, ["score", what, *COLUMNS], rows)
    for systems in compared:
        apart = [
            f"{paired.difference.lines:,} lines of {what} {name}"
            for name, paired in zip(names, systems, strict=True)
            if paired.difference
        ]
        metric = systems[0].metric
        screen.print(f"{metric.name} differs in {', '.join(apart)}; {metric.signature}")


def _searched(result: SavedResult) -> dict[str, Any]:
    """Which state of the model was scored, after how many updates, and by which search."""
    numbers = result.numbers
    checkpoint = Path(numbers["checkpoint"]).name
    return {"checkpoint": checkpoint, **{key: numbers[key] for key in ("updates", "decoding")}}


def _cells(paired: PairedScore) -> list[str]:
    metric, difference = paired.metric, paired.difference
    value = f"{metric.score:.2f}{_interval(metric.confidence, '.1f')}"
    if difference is None:
        return [value, "", "", ""]
    return [
        value,
        f"{difference.score:+.2f}{_interval(difference.confidence, '+.2f')}",
        f"{difference.p_bootstrap:.4f}",
        f"{difference.p_randomisation:.4f}",
    ]


def _interval(confidence: tuple[float, float] | None, form: str) -> str:
    return f" ({confidence[0]:{form}} to {confidence[1]:{form}})" if confidence else ""


def show_differences(title: str, sections: Sequence[Mapping[str, Any]], screen: Screen) -> None:
    """A table of the dotted keys whose values differ; nothing if there are none."""
    flat = [dict(_dotted(section)) for section in sections]
    keys = list(dict.fromkeys(key for settings in flat for key in settings))
    rows = [[key, *(settings.get(key, NOT_THERE) for settings in flat)] for key in keys]
    rows = [row for row in rows if len(set(row[1:])) > 1]
    if rows:
        runs = [f"run {number}" for number in range(1, len(sections) + 1)]
        screen.table(title, ["key", *runs], rows)


def _dotted(section: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The dotted keys of nested sections, with their values as one writes them."""
    for key, value in section.items():
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{prefix}{key}.")
        else:
            written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"{prefix}{key}", written
