"""The elements that a report is made of; what is called HTML here has its text escaped already."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from latimer.scoring import Metric


def section(name: str, heading: str, *parts: str) -> str:
    """A section that links lead to by its name."""
    return f'<section id="{name}">\n<h2>{escape(heading)}</h2>\n{"".join(parts)}</section>\n'


def heading(text: str) -> str:
    """Of a part of a section."""
    return f"<h3>{escape(text)}</h3>\n"


def paragraph(text: str, kind: str = "") -> str:
    """Plain text; ``kind`` is a class of the style, such as quiet."""
    return f'<p class="{kind}">{escape(text)}</p>\n' if kind else f"<p>{escape(text)}</p>\n"


def details(summary: str, *parts: str, opened: bool = False) -> str:
    """What shows, or hides, once it is clicked on."""
    start = "<details open>" if opened else "<details>"
    return f"{start}\n<summary>{escape(summary)}</summary>\n{''.join(parts)}</details>\n"


def terms(named: Mapping[str, str]) -> str:
    """Plain texts by what each is called."""
    rows = (
        f'<dt>{escape(name)}</dt><dd dir="auto">{escape(text)}</dd>\n'
        for name, text in named.items()
    )
    return f"<dl>\n{''.join(rows)}</dl>\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], kinds: Sequence[str] = ()) -> str:
    """A table in a box that scrolls by itself where the window is narrow.

    Args:
        columns: HTML of the heads.
        rows: HTML of the cells, the first of which names its row.
        kinds: a class of the style for each row; none for none.
    """
    head = "".join(f'<th scope="col">{column}</th>' for column in columns)
    cells = [
        f'<th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}'
        for first, *others in rows
    ]
    body = "".join(
        f'<tr class="{kind}">{row}</tr>\n' if kind else f"<tr>{row}</tr>\n"
        for row, kind in zip(cells, kinds or [""] * len(cells), strict=True)
    )
    return (
        f'<div class="wide" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody>\n</table></div>\n"
    )


def name_cell(name: str) -> str:
    """A system's name as HTML, which may take two lines where the window is narrow."""
    return f'<span class="name">{escape(name)}</span>'


def bar(value: float, interval: tuple[float, float] | None, top: float) -> str:
    """A bar from 0 to the value, and a line over its interval; ``top`` fills the whole width."""
    share = [max(0.0, min(100 * each / top, 100.0)) for each in (value, *(interval or ()))]
    line = (
        f'<b style="left:{share[1]:.1f}%;width:{share[2] - share[1]:.1f}%"></b>' if interval else ""
    )
    return (
        f'<span class="bar" aria-hidden="true"><i style="width:{share[0]:.1f}%"></i>{line}</span>'
    )


def with_interval(value: float, interval: tuple[float, float] | None) -> str:
    """``38.01 (36.3 to 39.7)``."""
    return f"{value:.2f}" + (f" ({interval[0]:.1f} to {interval[1]:.1f})" if interval else "")


def metric_text(metric: Metric) -> str:
    """A metric's score with its interval."""
    return with_interval(metric.score, metric.confidence)


def count(number: int, what: str) -> str:
    """``1 line``, ``1,000 lines``."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")
