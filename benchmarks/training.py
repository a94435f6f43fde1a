"""Training speed and memory: ours, by ``train.py`` itself, in turns with the baselines."""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import child, marian_model
from benchmarks.workloads import ROOT, Workload, configuration, make_corpus, settings
from latimer.data.prepared import prepare
from latimer.training.trainer import make_loaders

OURS, BASELINE = "latimer", "torch"
Report = Callable[[str], None]


def competitors() -> list[str]:
    """Those that are installed."""
    return [OURS, BASELINE, *(["marian"] if marian_model.installed() else [])]


def bench_training(
    workloads: Sequence[Workload],
    precisions: Sequence[str],
    *,
    repeats: int,
    folder: Path,
    report: Report,
) -> list[dict[str, Any]]:
    """Trains every model in every precision; rows of plain values with their ``runs``."""
    rows = []
    for workload in workloads:
        updates = updates_of_epoch(workload, folder)
        for precision in precisions:
            runs = []
            for name in child.interleaved(competitors(), repeats):
                report(f"training {workload.name}, {precision}: {name}")
                runs.append((name, train(name, workload, precision, updates, folder)))
            rows += [
                {"size": workload.name, "precision": precision, "competitor": name, "runs": each}
                for name, each in child.by_competitor(runs).items()
            ]
    return rows


def updates_of_epoch(workload: Workload, folder: Path) -> int:
    """Makes and prepares the corpus; the updates of a pass over it."""
    make_corpus(workload, folder)
    config = configuration(settings(workload, folder, "float32"))
    corpus = prepare(config.data, config.tokenizer, folder=Path(config.prepared_folder))
    return len(make_loaders(config, corpus)[0])


def train(
    name: str, workload: Workload, precision: str, updates: int, folder: Path
) -> dict[str, Any]:
    """One run in a process of its own: an epoch warms up, the next one is timed."""
    if name == OURS:
        return train_ours(workload, precision, warmup=updates, updates=updates, folder=folder)
    result: dict[str, Any] = child.measured(
        "benchmarks.plain_loop:train",
        competitor=name,
        workload=workload,
        folder=str(folder),
        precision=precision,
        updates=updates,
        warmup=updates,
    )
    return result


def train_ours(
    workload: Workload, precision: str, *, warmup: int, updates: int, folder: Path
) -> dict[str, Any]:
    """Runs ``train.py`` as anyone does, with a callback that looks at the clock."""
    with TemporaryDirectory() as aside:
        file = Path(aside, "laps.json")
        watch = "benchmarks.laps.LapsOfTraining"
        child.run(
            [
                *(sys.executable, str(ROOT / "train.py")),
                *settings(workload, folder, precision),
                *(f"trainer.max_updates={warmup + updates}", f"run_folder={Path(aside, 'run')}"),
                f"+callbacks.laps={{_target_: {watch}, warmup: {warmup}, file: {file}}}",
            ]
        )
        environment = json.loads(Path(aside, "run", "environment.json").read_text("utf-8"))
        result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        shutil.rmtree(Path(aside, "run"))
    return {**result, "hardware": environment["hardware"]}
