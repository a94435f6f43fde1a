"""``python -m benchmarks run``, ``growth``, ``show`` and ``document``; each has ``--help``."""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from benchmarks.decoding import bench_decoding
from benchmarks.growth import DECODING_AXES, FEW_PAIRS, PAIRS, UPDATE_AXES, bench_growth, shortened
from benchmarks.machine import describe_machine, precisions
from benchmarks.plots import draw
from benchmarks.products import bench_products
from benchmarks.profiles import bench_profiles
from benchmarks.start import bench_start
from benchmarks.tables import all_tables, fill_file
from benchmarks.training import bench_training
from benchmarks.workloads import SIZES, TOY, TRANSLATED

PARTS = ("training", "products", "decoding", "profile", "start")
CURVES = ("update", "decoding", "preparation")
TINY_SENTENCES = 8

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
Repeats = Annotated[int, typer.Option(min=1, help="Turns of each competitor.")]
Output = Annotated[Path | None, typer.Option(help="JSON file for the results.")]
Tiny = Annotated[bool, typer.Option("--tiny", help="Toy sizes, to see whether it works.")]


@app.command()
def run(  # noqa: PLR0913, PLR0917 (the options of the command)
    part: Annotated[list[str], typer.Option(help="Of: " + ", ".join(PARTS))] = list(PARTS),  # noqa: B006
    size: Annotated[list[str], typer.Option(help="Of: " + ", ".join(SIZES))] = list(SIZES),  # noqa: B006
    precision: Annotated[
        list[str] | None, typer.Option(help="float32, bf16-mixed; else what is fast here.")
    ] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="Of an epoch; fewer go faster.")] = None,
    repeats: Repeats = 3,
    output: Output = None,
    tiny: Tiny = False,
) -> None:
    """Measure speed and memory, and print the tables."""
    workloads = [TOY] if tiny else [SIZES[name] for name in size]
    workloads = [work._replace(pairs=pairs or work.pairs) for work in workloads]
    kinds = precision or (["float32"] if tiny else precisions())
    results: dict[str, Any] = {"machine": describe_machine()}
    with TemporaryDirectory(prefix="latimer-benchmarks-") as scratch:
        common: dict[str, Any] = {"repeats": repeats, "folder": Path(scratch), "report": _report}
        if "training" in part:
            results["training"] = bench_training(workloads, kinds, **common)
        if "products" in part:
            results["products"] = bench_products(workloads, kinds, **common)
        if "decoding" in part:
            sentences = TINY_SENTENCES if tiny else TRANSLATED
            results["decoding"] = bench_decoding(workloads, sentences=sentences, **common)
        if "profile" in part:
            results["profile"] = bench_profiles(workloads, kinds, **common)
        if "start" in part:
            results["start"] = bench_start(workloads, kinds[-1], **common)
    _finish(results, output)


@app.command()
def growth(  # noqa: PLR0913, PLR0917 (the options of the command)
    part: Annotated[list[str], typer.Option(help="Of: " + ", ".join(CURVES))] = list(CURVES),  # noqa: B006
    pairs: Annotated[list[int], typer.Option(help="Sizes of corpora.")] = list(PAIRS),  # noqa: B006
    repeats: Repeats = 3,
    output: Output = None,
    plots: Annotated[Path | None, typer.Option(help="Folder for the PNG files.")] = None,
    tiny: Tiny = False,
) -> None:
    """Measure how time and memory grow with the sizes, and print the lines through the curves."""
    chosen = {
        "update": UPDATE_AXES if "update" in part else (),
        "decoding": DECODING_AXES if "decoding" in part else (),
    }
    update_axes, decoding_axes = map(shortened, chosen.values()) if tiny else chosen.values()
    sizes = (FEW_PAIRS if tiny else pairs) if "preparation" in part else ()
    with TemporaryDirectory(prefix="latimer-benchmarks-") as scratch:
        rows = bench_growth(
            update_axes, decoding_axes, sizes, repeats=repeats, folder=Path(scratch), report=_report
        )
    if plots:
        draw(rows, plots)
    _finish({"machine": describe_machine(), "growth": rows}, output)


@app.command()
def show(files: list[Path]) -> None:
    """Print the tables of earlier results."""
    for name, table in all_tables(_read(files)).items():
        print(f"## {name}\n\n{table}\n")


@app.command()
def document(path: Path, files: list[Path]) -> None:
    """Put the tables of earlier results into a document, such as docs/performance.md."""
    fill_file(path, all_tables(_read(files)))


def _read(files: list[Path]) -> dict[str, Any]:
    """The rows of several files together, measured on the machine of the last one."""
    results: dict[str, Any] = {}
    for file in files:
        for part, found in json.loads(file.read_text(encoding="utf-8")).items():
            results[part] = [*results.get(part, []), *found] if isinstance(found, list) else found
    return results


def _finish(results: dict[str, Any], output: Path | None) -> None:
    if output:
        output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for name, table in all_tables(results).items():
        print(f"## {name}\n\n{table}\n")


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
