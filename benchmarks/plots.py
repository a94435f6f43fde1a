"""Growth curves as pictures, with the lines that were fitted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH, HEIGHT = 4.2, 3.2


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
    """Time above, memory below, a column for each size that grows."""
    columns = list(dict.fromkeys(row["against"] for row in rows))
    lines = list(dict.fromkeys(row["what"] for row in rows))
    with mpl.rc_context({"font.size": 9}):
        figure = Figure((WIDTH * len(columns), HEIGHT * len(lines)), layout="constrained")
        grid = figure.subplots(len(lines), len(columns), squeeze=False)
        for row in rows:
            _plot(row, grid[lines.index(row["what"])][columns.index(row["against"])])
        figure.savefig(file, dpi=110)


def _plot(row: dict[str, Any], axes: Axes) -> None:
    x, y = np.array(row["points"], dtype=np.float64).T
    line = np.linspace(0, x.max(), 50)
    axes.plot(line, row["constant"] + row["slope"] * line, color="0.7", zorder=1)
    axes.plot(x, y, "o", color="tab:blue", markersize=4, zorder=2)
    axes.set(xlabel=row["against"], ylabel=f"{row['what']}, {row['unit']}")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_title(f"{row['constant']:.3g} + {row['slope']:.3g} x", fontsize=9, color="0.4")
    axes.spines[["top", "right"]].set_visible(False)
