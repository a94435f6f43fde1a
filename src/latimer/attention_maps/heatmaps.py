"""Heatmaps of attention weights, laid out so that every piece can be read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from latimer.attention_maps.lettering import Lettering
from latimer.attention_maps.weights import AttentionMap

WHAT = {
    "encoder": "Encoder self-attention: a piece of the source (row) looks at the source (columns)",
    "decoder": "Decoder self-attention: for its next piece (row), the target so far (columns)",
    "cross": "Cross-attention: for the next piece of the target (row), the source (columns)",
}
DPI = 150
POINTS = 7.0
COLOURS = LinearSegmentedColormap.from_list("weights", ["#ffffff", "#9ecae1", "#3182bd", "#08306b"])
# Square roots: one weight of sixty equal ones is still seen. One scale for all pictures.
SCALE = PowerNorm(0.5, vmin=0.0, vmax=1.0, clip=True)
SCALE_TICKS = (0.0, 0.01, 0.1, 0.25, 0.5, 1.0)
GRID = "#dddddd"
# Inches.
CELL = 0.13
SMALLEST_PANEL = 1.3
WIDE_FIGURE = 14.0
LINE = 0.24
GAP = 0.12
BAR = 1.3


def draw_heads(attention: AttentionMap, layer: int) -> Figure:
    """One layer (from 1), with its heads side by side."""
    heads = attention.weights[layer - 1]
    panels = {f"head {number}": weights for number, weights in enumerate(heads, start=1)}
    return _draw(f"{WHAT[attention.kind]} – layer {layer}", panels, attention)


def draw_layers(attention: AttentionMap) -> Figure:
    """All layers side by side, each the mean of its heads."""
    layers = attention.weights.mean(axis=1)
    panels = {f"layer {number}": weights for number, weights in enumerate(layers, start=1)}
    return _draw(f"{WHAT[attention.kind]} – mean of the heads", panels, attention)


def as_png(figure: Figure) -> bytes:
    """The file that a figure makes."""
    file = BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def as_pixels(figure: Figure) -> NDArray[np.uint8]:
    """(height, width, 3), red, green and blue."""
    file = BytesIO()
    figure.savefig(file, format="rgba")
    width, height = figure.canvas.get_width_height()
    return np.frombuffer(file.getvalue(), dtype=np.uint8).reshape(height, width, 4)[..., :3]


@dataclass(frozen=True)
class _Layout:
    """Where the panels of a figure lie, in inches from its upper left corner."""

    labels: tuple[float, float]  # left of a panel, and below it
    panel: tuple[float, float]
    panels: int

    @property
    def columns(self) -> int:
        """As many as fit, but no more than twice as many rows; spread evenly over the rows."""
        fewest = math.ceil(math.sqrt(self.panels / 2))
        fitting = max(fewest, int(WIDE_FIGURE / self.pitch[0]))
        return math.ceil(self.panels / math.ceil(self.panels / fitting))

    @property
    def pitch(self) -> tuple[float, float]:
        """From one panel to the next."""
        return self.labels[0] + self.panel[0] + GAP, LINE + self.panel[1] + self.labels[1] + GAP

    @property
    def size(self) -> tuple[float, float]:
        """Of the figure, colour bar and title included."""
        rows = math.ceil(self.panels / self.columns)
        width = GAP + self.columns * self.pitch[0] + 5 * GAP
        return width, LINE + max(rows * self.pitch[1], LINE + BAR + GAP)

    def corner(self, number: int) -> tuple[float, float]:
        """The upper left corner of a panel's cells."""
        row, column = divmod(number, self.columns)
        return (
            GAP + column * self.pitch[0] + self.labels[0],
            2 * LINE + row * self.pitch[1],
        )


def _draw(title: str, panels: Mapping[str, NDArray[np.float32]], attention: AttentionMap) -> Figure:
    lettering = Lettering({*attention.queries, *attention.keys, title}, size=POINTS, dpi=DPI)
    queries = [lettering.spell(piece) for piece in attention.queries]
    keys = [lettering.spell(piece) for piece in attention.keys]
    cell = max(CELL, SMALLEST_PANEL / max(len(queries), len(keys)))
    layout = _Layout(
        labels=(lettering.width(queries) + GAP, lettering.width(keys) + GAP),
        panel=(cell * len(keys), cell * len(queries)),
        panels=len(panels),
    )
    width = max(layout.size[0], lettering.width([title]) + 2 * GAP)
    figure = Figure(figsize=(width, layout.size[1]), dpi=DPI)
    figure.text(GAP / width, 1 - GAP / layout.size[1], title, va="center", font=lettering.font)
    for number, (name, weights) in enumerate(panels.items()):
        axes = _place(figure, layout.corner(number), layout.panel)
        axes.pcolormesh(weights, cmap=COLOURS, norm=SCALE, edgecolors=GRID, linewidth=0.3)
        axes.set_title(name, font=lettering.font, pad=3.0)
        _letter(axes, queries, keys, lettering, gap=GAP / 3 / cell)
    _add_scale(figure, layout, lettering)
    return figure


def _place(figure: Figure, corner: tuple[float, float], size: tuple[float, float]) -> Axes:
    """Axes at a place in inches from the upper left corner."""
    whole_width, whole_height = figure.get_size_inches()
    (left, top), (width, height) = corner, size
    bottom = whole_height - top - height
    return figure.add_axes(
        (left / whole_width, bottom / whole_height, width / whole_width, height / whole_height)
    )


def _letter(
    axes: Axes, queries: list[str], keys: list[str], lettering: Lettering, *, gap: float
) -> None:
    """The pieces at their rows, from the top down, and below their columns; a gap in cells."""
    # Plain texts, since ticks take thrice as long; and a piece such as $ is no mathematics.
    style: dict[str, Any] = {"font": lettering.font, "parse_math": False}
    below = len(queries) + gap
    axes.set(xticks=[], yticks=[])
    axes.invert_yaxis()
    for row, piece in enumerate(queries):
        axes.text(-gap, row + 0.5, piece, ha="right", va="center_baseline", **style)
    for column, piece in enumerate(keys):
        axes.text(column + 0.5, below, piece, rotation=90, ha="center", va="top", **style)


def _add_scale(figure: Figure, layout: _Layout, lettering: Lettering) -> None:
    """Which colour is which weight, to the right of the upper row."""
    left = GAP + layout.columns * layout.pitch[0]
    axes = _place(figure, (left, 2 * LINE), (GAP, BAR))
    bar = figure.colorbar(ScalarMappable(SCALE, COLOURS), cax=axes, ticks=SCALE_TICKS)
    bar.ax.set_yticklabels([f"{tick:g}" for tick in SCALE_TICKS], font=lettering.font)
    bar.ax.tick_params(length=2, pad=2)
    bar.ax.set_title("weight", font=lettering.font, loc="left", pad=6.0)
