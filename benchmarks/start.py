"""How long one waits: for the help, and for the first update on a corpus that is prepared."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import child
from benchmarks.training import train_ours, updates_of_epoch
from benchmarks.workloads import ROOT, Workload

HELP, TORCH, FIRST = "train.py --help", "python -c 'import torch'", "first update"
COMMANDS: dict[str, list[str]] = {
    TORCH: [sys.executable, "-c", "import torch"],
    HELP: [sys.executable, str(ROOT / "train.py"), "--help"],
}


def bench_start(
    workloads: Sequence[Workload],
    precision: str,
    *,
    repeats: int,
    folder: Path,
    report: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Seconds since the command was given; importing PyTorch stands there to compare with."""
    waits: dict[str, list[float]] = {what: [] for what in COMMANDS}
    for what in child.interleaved(COMMANDS, repeats):
        report(f"start: {what}")
        waits[what].append(_seconds(COMMANDS[what]))
    for workload in workloads:
        updates_of_epoch(workload, folder)
        report(f"start: {FIRST}, {workload.name}")
        waits[f"{FIRST}, {workload.name}"] = [
            _until_first_update(workload, precision, folder) for _ in range(repeats)
        ]
    return [{"what": what, "seconds": seconds} for what, seconds in waits.items()]


def _seconds(command: Sequence[str]) -> float:
    start = time.perf_counter()
    child.run(command)
    return time.perf_counter() - start


def _until_first_update(workload: Workload, precision: str, folder: Path) -> float:
    start = time.time()
    laps = train_ours(workload, precision, warmup=1, updates=1, folder=folder)
    return float(laps["first_update"]) - start
