"""How long one waits: for the help, for the first update, and for scores beside their search."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import child
from benchmarks.training import train_ours, updates_of_epoch
from benchmarks.workloads import ROOT, Workload, settings, test_settings

HELP, TORCH, FIRST = "train.py --help", "python -c 'import torch'", "first update"
COMMANDS: dict[str, list[str]] = {
    TORCH: [sys.executable, "-c", "import torch"],
    HELP: [sys.executable, str(ROOT / "train.py"), "--help"],
}
EVALUATED = ("small", "toy")
BESIDE = "evaluate.py beside its search"
WITH_AND_WITHOUT_PAGE = {BESIDE: "report=true", f"{BESIDE}, without a page": "report=false"}


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
    for workload in workloads:
        if workload.name in EVALUATED:
            run = _train_briefly(workload, folder)
            for what in child.interleaved(WITH_AND_WITHOUT_PAGE, repeats):
                report(f"start: {what}, {workload.name}")
                seconds = _beside_search(run, workload, folder, WITH_AND_WITHOUT_PAGE[what])
                waits.setdefault(f"{what}, {workload.name}", []).append(seconds)
    return [{"what": what, "seconds": seconds} for what, seconds in waits.items()]


def _seconds(command: Sequence[str]) -> float:
    start = time.perf_counter()
    child.run(command)
    return time.perf_counter() - start


def _until_first_update(workload: Workload, precision: str, folder: Path) -> float:
    start = time.time()
    laps = train_ours(workload, precision, warmup=1, updates=1, folder=folder)
    return float(laps["first_update"]) - start


def _train_briefly(workload: Workload, folder: Path) -> Path:
    """The folder of a run of one update, so that there is a checkpoint."""
    run = folder / f"run_{workload.name}"
    arguments = settings(workload, folder, "float32")
    train = [sys.executable, str(ROOT / "train.py"), *arguments]
    child.run([*train, "trainer.max_updates=1", f"run_folder={run}"])
    return run


def _beside_search(run: Path, workload: Workload, folder: Path, page: str) -> float:
    """Seconds of an evaluation, without those in which the test set was translated.

    What is translated is hardly trained, and would go on to the limit: it is as long as its source.
    The page's own greedy search and its scores of the references count.
    """
    with TemporaryDirectory() as results:
        seconds = _seconds(
            [
                *(sys.executable, str(ROOT / "evaluate.py"), f"checkpoint={run}", page),
                *(*test_settings(workload, folder), f"output_folder={results}"),
                *("decoding.max_length_factor=1", "decoding.max_length_offset=0"),
            ]
        )
        [result] = Path(results).glob("*/result.json")
        return seconds - float(json.loads(result.read_text(encoding="utf-8"))["seconds"])
