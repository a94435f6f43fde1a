"""The peak that plain matrix products of a model's own shapes reach, forward and backward."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks import child
from benchmarks.flops import counted_flops, padded_flops, useful_flops
from benchmarks.workloads import Workload, configuration, make_corpus, settings
from latimer.config.model import ModelConfig
from latimer.config.run import RunConfig
from latimer.data.encoded import Batch
from latimer.data.prepared import prepare
from latimer.model.masks import PAD_ID
from latimer.training.trainer import make_loaders

SQUARE = 2_048
REPEATS = 10
DTYPES = {"float32": torch.float32, "bf16-mixed": torch.bfloat16}
Report = Callable[[str], None]


class Product(NamedTuple):
    """Activations (rows, width_in) times a matrix (width_in, width_out), and how often a step."""

    rows: int
    width_in: int
    width_out: int
    times: int

    @property
    def flops(self) -> int:
        """Of one such product; its two gradients have as many each."""
        return 2 * self.rows * self.width_in * self.width_out


def products_of(config: ModelConfig, vocab_size: int, source: int, target: int) -> list[Product]:
    """All products with weights in a training step on so many source and target pieces."""
    width, inner = config.d_model, config.d_ff
    encoder, decoder = config.encoder_layers, config.decoder_layers
    return [
        Product(source, width, width, 4 * encoder + 2 * decoder),
        Product(source, width, inner, encoder),
        Product(source, inner, width, encoder),
        Product(target, width, width, 6 * decoder),
        Product(target, width, inner, decoder),
        Product(target, inner, width, decoder),
        Product(target, width, vocab_size, 1),
    ]


def bench_products(
    workloads: Sequence[Workload],
    precisions: Sequence[str],
    *,
    repeats: int,
    folder: Path,
    report: Report,
) -> list[dict[str, Any]]:
    """Measures every model's shapes in every precision; rows of plain values."""
    rows = []
    for workload in workloads:
        make_corpus(workload, folder)
        given = {"workload": workload, "folder": str(folder), "repeats": repeats}
        for precision in precisions:
            report(f"products {workload.name}, {precision}")
            rows.append(child.measured("benchmarks.products:measure", precision=precision, **given))
    return rows


def measure(workload: list[Any], folder: str, precision: str, repeats: int) -> dict[str, Any]:
    """In the process that is measured: operations a target piece, and how fast products are."""
    work = Workload(*workload)
    config = configuration(settings(work, Path(folder), precision))
    batches = batches_of_epoch(config)
    middle = middle_batch(batches)
    source, target = (int((ids != PAD_ID).sum()) for ids in (middle.source, middle.labels))
    shapes = products_of(config.model, work.vocab_size, source, target)
    dtype = DTYPES[precision]
    timed = [(shape, _seconds(shape, dtype, REPEATS * repeats)) for shape in shapes]
    flops = sum(3 * shape.flops * shape.times for shape, _ in timed)
    square = Product(SQUARE, SQUARE, SQUARE, 1)
    return {
        "size": work.name,
        "precision": precision,
        **_operations(config.model, work.vocab_size, batches, middle),
        "peak": flops / sum(seconds * shape.times for shape, seconds in timed),
        "square": 3 * square.flops / _seconds(square, dtype, repeats),
        "shapes": [[*shape, 3 * shape.flops / seconds] for shape, seconds in timed],
    }


def batches_of_epoch(config: RunConfig) -> list[Batch]:
    """All batches that a training has in its first epoch."""
    corpus = prepare(config.data, config.tokenizer, folder=Path(config.prepared_folder))
    return [batch for update in make_loaders(config, corpus)[0] for batch in update]


def middle_batch(batches: Sequence[Batch]) -> Batch:
    """The one in the middle by the cells of its sources."""
    return sorted(batches, key=lambda batch: batch.source.numel())[len(batches) // 2]


def _operations(
    config: ModelConfig, vocab_size: int, batches: Sequence[Batch], middle: Batch
) -> dict[str, float]:
    """Operations for each target piece of an epoch; formula and count of its middle batch."""
    pieces = sum(int((batch.labels != PAD_ID).sum()) for batch in batches)
    useful, padded = (
        sum(count(config, vocab_size, batch) for batch in batches) / pieces
        for count in (useful_flops, padded_flops)
    )
    return {
        "useful_flops": useful,
        "padded_flops": padded,
        "formula_of_one_batch": padded_flops(config, vocab_size, middle),
        "count_of_one_batch": counted_flops(config, vocab_size, middle),
    }


def _seconds(shape: Product, dtype: torch.dtype, repeats: int) -> float:
    """The median time of a product and its two gradients, after three that warm up."""
    states = torch.randn(shape.rows, shape.width_in, dtype=dtype)
    weights = torch.randn(shape.width_out, shape.width_in, dtype=dtype)
    gradient = torch.randn(shape.rows, shape.width_out, dtype=dtype)
    times = [_once(states, weights, gradient) for _ in range(3 + repeats)]
    return median(times[3:])


def _once(states: Tensor, weights: Tensor, gradient: Tensor) -> float:
    start = time.perf_counter()
    _ = (states @ weights.T, gradient @ weights, gradient.T @ states)
    return time.perf_counter() - start
