"""Several measurements of one thing as one figure and its spread."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple


class Summary(NamedTuple):
    """The median of some measurements, and the lowest and the highest of them."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Summary":
        """Of at least one measurement."""
        return cls(median(values), min(values), max(values))

    def text(self, digits: int = 0) -> str:
        """The median with the spread behind it."""
        middle, low, high = (f"{value:,.{digits}f}" for value in self)
        return middle if low == high else f"{middle} ({low} to {high})"
