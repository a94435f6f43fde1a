"""Where the time goes: in matrix products, in fused attention, and in the rest."""

from collections.abc import Callable, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks import child, plain_loop, searches
from benchmarks.growth_points import bare_update
from benchmarks.laps import Laps
from benchmarks.products import batches_of_epoch, middle_batch
from benchmarks.training import OURS, competitors
from benchmarks.workloads import SEED, Workload, configuration, make_corpus, settings, test_lines
from latimer.memory import keep_freed_memory
from latimer.tokenizer import Tokenizer
from latimer.training.ready import make_model
from latimer.training.task import TranslationTask

WARMUP = 2
PRODUCTS = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::addmm_"}
SEARCHED = ("latimer", "marian")
MILLI = 1e-3


def bench_profiles(
    workloads: Sequence[Workload],
    precisions: Sequence[str],
    *,
    repeats: int,
    folder: Path,
    report: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Profiles an update of every model in every precision, and a batch of its search."""
    rows = []
    for workload in workloads:
        make_corpus(workload, folder)
        tasks = [("update", each, name) for each in precisions for name in competitors()]
        tasks += [("search", "float32", each) for each in SEARCHED if each in searches.installed()]
        for what, precision, name in tasks:
            report(f"profile {workload.name}, {what}, {precision}: {name}")
            given = {"workload": workload, "folder": str(folder), "precision": precision}
            task = f"benchmarks.profiles:profile_{what}"
            found = child.measured(task, competitor=name, repeats=repeats, **given)
            labels = {"size": workload.name, "precision": precision, "competitor": name}
            rows.append({**labels, "what": what, **found})
    return rows


def profile_update(
    competitor: str, workload: list[Any], folder: str, precision: str, repeats: int
) -> dict[str, Any]:
    """Forward, backward, clipping and Adam on the middle batch of an epoch, without Lightning."""
    work = Workload(*workload)
    config = configuration(settings(work, Path(folder), precision))
    batch = middle_batch(batches_of_epoch(config))
    torch.manual_seed(SEED)
    if competitor == OURS:
        keep_freed_memory()
        vocabulary = {"source_vocab_size": work.vocab_size, "target_vocab_size": work.vocab_size}
        update = bare_update(
            TranslationTask(make_model(config, **vocabulary), config), batch, precision
        )
        return profiled(update, repeats)
    model = plain_loop.BASELINES[competitor](config.model, work.vocab_size)

    def one_update() -> None:
        plain_loop.fit(model, repeat(batch), Laps(0), updates=1, precision=precision)

    return profiled(one_update, repeats)


def profile_search(
    competitor: str, workload: list[Any], folder: str, precision: str, repeats: int
) -> dict[str, Any]:
    """The search of the middle batch of the test set."""
    work = Workload(*workload)
    config = configuration(settings(work, Path(folder), precision))
    tokenizer = Tokenizer.from_file(config.tokenizer.file or "")
    batches = searches.sorted_batches(tokenizer.encode_batch(test_lines(work, Path(folder))))
    torch.manual_seed(SEED)
    with torch.inference_mode():
        search = searches.SEARCHES[competitor](config.model, work.vocab_size)
        return profiled(lambda: search(batches[len(batches) // 2]), repeats)


def profiled(step: Callable[[], object], repeats: int) -> dict[str, Any]:
    """Milliseconds of a step by kind, and its five longest operations but products.

    Of several steps, each operation's shortest time: whatever else the machine does adds to it.
    """
    for _ in range(WARMUP):
        step()
    times: dict[str, float] = {}
    for _ in range(repeats):
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            step()
        for event in profiler.key_averages():
            milliseconds = event.self_cpu_time_total * MILLI
            times[event.key] = min(milliseconds, times.get(event.key, milliseconds))
    kinds = {"products": 0.0, "attention": 0.0, "rest": 0.0}
    for name, milliseconds in times.items():
        kinds[_kind(name)] += milliseconds
    others = [name for name in times if _kind(name) == "rest"]
    longest = sorted(others, key=lambda name: -times[name])[:5]
    return {**kinds, "longest": [[name, times[name]] for name in longest]}


def _kind(name: str) -> str:
    """Of an operation; fused attention has products inside, which can't be told apart."""
    if name in PRODUCTS:
        return "products"
    return "attention" if "attention" in name else "rest"
