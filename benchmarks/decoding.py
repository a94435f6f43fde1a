"""Decoding speed: ours in turns with Marian and CTranslate2, on the same batches."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import child, searches
from benchmarks.workloads import Workload, make_corpus


def bench_decoding(
    workloads: Sequence[Workload],
    *,
    repeats: int,
    sentences: int,
    folder: Path,
    report: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Translates with every model; rows of plain values with their ``runs``."""
    rows = []
    for workload in workloads:
        make_corpus(workload, folder)
        runs = []
        for name in child.interleaved(searches.installed(), repeats):
            report(f"decoding {workload.name}: {name}")
            task = "benchmarks.searches:translate"
            given = {"workload": workload, "folder": str(folder), "sentences": sentences}
            runs.append((name, child.measured(task, competitor=name, **given)))
        rows += [
            {"size": workload.name, "competitor": name, "runs": each}
            for name, each in child.by_competitor(runs).items()
        ]
    return rows
