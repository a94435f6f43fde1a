"""Results as tables in Markdown, and those tables in a document."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.summary import Summary
from benchmarks.training import BASELINE, OURS
from latimer.errors import LatimerError

GIGA, MEGA, GIBIBYTE = 1e9, 1e6, 2**30
NAMES = {"torch": "torch.nn.Transformer", "marian": "Marian (transformers)"}
Results = dict[str, Any]


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; all columns but the first are aligned to the right."""
    rule = ["---"] + ["---:"] * (len(columns) - 1)
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, rule, *rows))


def all_tables(results: Results) -> dict[str, str]:
    """The tables of what was measured, by name."""
    makers = {
        "machine": machine_table,
        "training": training_table,
        "memory": memory_table,
        "products": products_table,
        "decoding": decoding_table,
        "profile": profile_table,
        "start": start_table,
        "growth": growth_table,
    }
    needed = {"memory": "training"}
    return {
        name: make(results) for name, make in makers.items() if results.get(needed.get(name, name))
    }


def machine_table(results: Results) -> str:
    """What the figures belong to."""
    machine = results["machine"]
    rows = [(name.replace("_", " "), _plain(value)) for name, value in machine.items()]
    return markdown(("machine", ""), rows)


def training_table(results: Results) -> str:
    """Target pieces a second, what they are beside the baseline's, and the share of the peak."""
    peaks = {(row["size"], row["precision"]): row for row in results.get("products") or []}
    rows = []
    for row in results["training"]:
        speed = Summary.of([run["pieces"] / run["seconds"] for run in row["runs"]])
        peak = peaks.get((row["size"], row["precision"]))
        share = f"{speed.median * peak['useful_flops'] / peak['peak']:.0%}" if peak else ""
        beside = speed.median / _baseline_speed(results["training"], row)
        rows.append((*_labels(row), speed.text(), f"{beside:.2f} ×", share))
    columns = ("model", "precision", "", "target pieces/s", "beside torch.nn", "share of peak")
    return markdown(columns, rows)


def memory_table(results: Results) -> str:
    """The peak of resident memory while training, and what was there before the first update."""
    rows = []
    for row in results["training"]:
        figures = (
            Summary.of([run[name] / GIBIBYTE for run in row["runs"]]).text(2)
            for name in ("resident_before", "peak_bytes")
        )
        rows.append((*_labels(row), *figures))
    return markdown(("model", "precision", "", "before, GiB", "peak, GiB"), rows)


def products_table(results: Results) -> str:
    """What plain products reach, and how many operations a target piece takes."""
    rows = [
        (
            row["size"],
            row["precision"],
            f"{row['peak'] / GIGA:,.0f}",
            f"{row['square'] / GIGA:,.0f}",
            f"{row['useful_flops'] / MEGA:.1f}",
            f"{row['padded_flops'] / MEGA:.1f}",
            f"{row['count_of_one_batch'] / row['formula_of_one_batch']:.3f}",
        )
        for row in results["products"]
    ]
    columns = (
        *("model", "precision", "own shapes, GFLOP/s", "square, GFLOP/s"),
        *("MFLOP a target piece", "with padding", "counted / formula"),
    )
    return markdown(columns, rows)


def decoding_table(results: Results) -> str:
    """Sentences a second, and what they are beside Marian's, where that is installed."""
    speeds = {
        (row["size"], row["competitor"]): Summary.of(
            [run["sentences"] / run["seconds"] for run in row["runs"]]
        )
        for row in results["decoding"]
    }
    rows = []
    for row in results["decoding"]:
        size, name = row["size"], row["competitor"]
        peak = Summary.of([run["peak_bytes"] / GIBIBYTE for run in row["runs"]])
        speed, marian = speeds[size, name], speeds.get((size, "marian"))
        beside = f"{speed.median / marian.median:.2f} ×" if marian else ""
        rows.append((size, NAMES.get(name, name), speed.text(1), beside, peak.text(2)))
    return markdown(("model", "", "sentences/s", "beside Marian", "peak, GiB"), rows)


def profile_table(results: Results) -> str:
    """Milliseconds of a step by kind, and how much faster than it ours would be without the rest.

    That is the limit for whoever computes the same products: no code takes less time than those.
    """
    products = {
        (row["size"], row["precision"], row["what"]): row["products"]
        for row in results["profile"]
        if row["competitor"] == OURS
    }
    rows = []
    for row in results["profile"]:
        kinds = [row[kind] for kind in ("products", "attention", "rest")]
        limit = sum(kinds) / products[row["size"], row["precision"], row["what"]]
        longest = ", ".join(
            f"{name.removeprefix('aten::')} {each:,.0f}" for name, each in row["longest"]
        )
        times = (f"{each:,.0f}" for each in kinds)
        rows.append((*_labels(row), row["what"], *times, f"{limit:.2f} ×", longest))
    columns = (
        *("model", "precision", "", "", "products, ms", "attention, ms", "the rest, ms"),
        *("beside our products alone", "longest of the rest, ms"),
    )
    return markdown(columns, rows)


def start_table(results: Results) -> str:
    """Seconds that one waits."""
    rows = [(row["what"], Summary.of(row["seconds"]).text(1)) for row in results["start"]]
    return markdown(("", "seconds"), rows)


def growth_table(results: Results) -> str:
    """The lines through the curves: a constant and a slope, and the exponent of the far half."""
    rows = [
        (
            f"{row['what']} against {row['against']}",
            f"{row['points'][0][0]:,} to {row['points'][-1][0]:,}",
            f"{row['constant']:.3g} {row['unit']}",
            f"{row['slope']:.3g} {row['unit']}",
            f"{row['largest_deviation']:.0%}",
            f"{row['exponent']:.2f}",
        )
        for row in results["growth"]
    ]
    return markdown(("", "range", "constant", "slope", "deviation", "exponent"), rows)


def fill(document: str, tables: dict[str, str]) -> str:
    """Puts tables where the document has ``<!-- table: NAME -->`` and ``<!-- end of table -->``.

    Raises:
        LatimerError: a table has no such place.
    """
    for name, table in tables.items():
        begin = f"<!-- table: {name} -->"
        place = re.compile(rf"{begin}\n.*?<!-- end of table -->", re.DOTALL)
        if not place.search(document):
            raise LatimerError(f"the document has no place for a table: write {begin} there")
        filled = f"{begin}\n\n{table}\n\n<!-- end of table -->"
        document = place.sub(lambda _, filled=filled: filled, document)  # type: ignore[misc]
    return document


def fill_file(path: Path, tables: dict[str, str]) -> None:
    """Likewise, in a file."""
    path.write_text(fill(path.read_text(encoding="utf-8"), tables), encoding="utf-8")


def _labels(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["size"], row["precision"], NAMES.get(row["competitor"], row["competitor"])


def _baseline_speed(rows: Sequence[dict[str, Any]], row: dict[str, Any]) -> float:
    """The median of the baseline with the same model and precision."""
    same = next(
        other
        for other in rows
        if (other["size"], other["precision"]) == (row["size"], row["precision"])
        and other["competitor"] == BASELINE
    )
    return Summary.of([run["pieces"] / run["seconds"] for run in same["runs"]]).median


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={each}" for name, each in value.items()) or "nothing set"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
