"""How the time of an update, of a search and of the preparation grows: ``make bench-growth``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import child
from benchmarks.curves import Curve

GIBIBYTE = 2**30
Report = Callable[[str], None]


class Axis(NamedTuple):
    """A size that is changed while the others stay.

    Attributes:
        name: of the argument of the function that measures.
        label: on the x axis.
        values: of it, the smallest first.
    """

    name: str
    label: str
    values: Sequence[int]


UPDATE_AXES = (
    Axis("pieces", "target pieces of a batch", (512, 1_024, 2_048, 4_096, 8_192, 16_384)),
    Axis("length", "pieces of a sentence", (16, 32, 64, 128, 256, 512, 1_024)),
    Axis("width", "d_model", (64, 128, 256, 512, 1_024)),
    Axis("vocab_size", "V", (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)),
)
DECODING_AXES = (
    Axis("beam_size", "beams", (1, 2, 4, 8, 16)),
    Axis("length", "pieces of a sentence", (8, 16, 32, 64, 128, 256)),
    Axis("sentences", "sentences of a batch", (1, 4, 16, 64, 256)),
)
PAIRS = (30_000, 100_000, 300_000, 1_000_000)
FEW_PAIRS = (500, 1_000)


def shortened(axes: Sequence[Axis]) -> list[Axis]:
    """The two smallest values of each, to see whether it works."""
    return [axis._replace(values=axis.values[:2]) for axis in axes]


def bench_growth(  # noqa: PLR0913 (three kinds of curves, and how)
    update_axes: Sequence[Axis],
    decoding_axes: Sequence[Axis],
    pairs: Sequence[int],
    *,
    repeats: int,
    folder: Path,
    report: Report,
) -> list[dict[str, Any]]:
    """Measures all curves, each in a process of its own; rows of plain values."""
    curves = [
        *_timed("update", update_axes, repeats, report),
        *_timed("decoding", decoding_axes, repeats, report),
        *_preparation(pairs, folder, report),
    ]
    return [curve.fitted() for curve in curves]


def _timed(group: str, axes: Sequence[Axis], repeats: int, report: Report) -> Iterator[Curve]:
    for axis in axes:
        report(f"{group}: {axis.label} {', '.join(map(str, axis.values))}")
        points = child.measured(
            "benchmarks.growth_points:along",
            group=group,
            name=axis.name,
            values=axis.values,
            repeats=repeats,
        )
        yield from _curves(group, axis.label, dict(zip(axis.values, points, strict=True)))


def _preparation(pairs: Sequence[int], folder: Path, report: Report) -> Iterator[Curve]:
    results = {}
    for count in pairs:
        report(f"preparation: {count:,} pairs")
        task = "benchmarks.growth_points:preparation"
        results[count] = child.measured(task, pairs=count, folder=str(folder))
    if results:
        yield from _curves("preparation", "pairs", results)


def _curves(group: str, against: str, results: Mapping[int, dict[str, float]]) -> Iterator[Curve]:
    seconds = [(size, result["seconds"]) for size, result in results.items()]
    memory = [(size, result["peak_bytes"] / GIBIBYTE) for size, result in results.items()]
    yield Curve(group, f"{group} time", "s", against, seconds)
    yield Curve(group, f"{group} memory", "GiB", against, memory)
