"""Lines through measured points: what is constant, what grows, and how."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Point = tuple[float, float]


class Curve(NamedTuple):
    """What was measured against what.

    Attributes:
        group: "update", "decoding" or "preparation"; a figure has those of one group.
        what: is on the y axis.
        unit: of it.
        against: is on the x axis.
        points: pairs of x and y.
    """

    group: str
    what: str
    unit: str
    against: str
    points: Sequence[Point]

    def fitted(self) -> dict[str, Any]:
        """The curve and its line as plain values."""
        return {**self._asdict(), **fit(self.points)}


def fit(points: Sequence[Point]) -> dict[str, float]:
    """The line y = constant + slope · x, and how y grows at the end.

    Every point weighs by its relative deviation, so that the small ones count too. The exponent is
    that of a power of x through the half with the larger x: 1 for a line, 2 for a square.
    """
    x, y = np.array(points, dtype=np.float64).T
    slope, constant = np.polyfit(x, y, 1, w=1 / y)
    far = np.arange(len(x) // 2, len(x)) if len(x) > 2 else np.arange(len(x))
    exponent = np.polyfit(np.log(x[far]), np.log(y[far]), 1)[0]
    return {
        "constant": float(constant),
        "slope": float(slope),
        "largest_deviation": float(np.abs((constant + slope * x) / y - 1).max()),
        "exponent": float(exponent),
    }
