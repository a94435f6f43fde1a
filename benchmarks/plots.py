"""Growth curves as pictures, with the lines that were fitted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

WIDTH, HEIGHT = 4.4, 3.0


def draw(rows: Sequence[dict[str, Any]], folder: Path) -> list[Path]:
    """Draws the curves of each group into one PNG, ``<group>.png``; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for group in dict.fromkeys(row["group"] for row in rows):
        chosen = [row for row in rows if row["group"] == group]
        files.append(folder / f"{group}.png")
        _draw(chosen, files[-1])
    return files


def _draw(rows: Sequence[dict[str, Any]], file: Path) -> None:
    """Time on the left, memory on the right, below each other the sizes that grow."""
    sizes = list(dict.fromkeys(row["against"] for row in rows))
    measures = list(dict.fromkeys(row["what"] for row in rows))
    with mpl.rc_context({"font.size": 9, "axes.titlesize": 10, "legend.fontsize": 8}):
        figure = Figure((WIDTH * len(measures), HEIGHT * len(sizes)), layout="constrained")
        grid = figure.subplots(len(sizes), len(measures), squeeze=False)
        for row in rows:
            _plot(row, grid[sizes.index(row["against"])][measures.index(row["what"])])
        figure.savefig(file, dpi=100)


def _plot(row: dict[str, Any], axes: Axes) -> None:
    """Time on a logarithmic axis, where a power is a straight line; memory from 0."""
    x, y = np.array(row["points"], dtype=np.float64).T
    between = np.geomspace(x.min(), x.max(), 100)
    unit = row["unit"]
    axes.plot(x, y, "o-", color="tab:blue", markersize=4, label="measured")
    axes.plot(
        between,
        row["constant"] + row["slope"] * between,
        "--",
        color="0.5",
        label=f"{row['constant']:.2g} {unit} + {row['slope']:.2g} {unit} · size",
    )
    axes.set_xscale("log")
    axes.set_xticks(x, [short(value) for value in x])
    if unit == "s":
        axes.set_yscale("log")
        axes.set_ylim(y.min() / 2, 3 * y.max())
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
    else:
        axes.set_ylim(0, 1.3 * y.max())
    axes.minorticks_off()
    axes.set(xlabel=row["against"], ylabel=unit, title=f"{row['what']} against {row['against']}")
    axes.legend(frameon=False, loc="upper left")
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def short(size: float) -> str:
    """A size as a label: 512, 4,096, 16.4k, 1M."""
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if size >= max(unit, 10_000):
            return f"{size / unit:.3g}{name}"
    return f"{size:,.0f}"
