"""How far a translation is, for the person at the terminal."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from latimer.data.chunks import LineInput

Advance = Callable[[int], None]
"""Tells how many lines have been translated so far."""


@contextmanager
def progress_bar(inputs: Sequence[LineInput]) -> Iterator[Advance]:
    """A bar on stderr.

    It fills by bytes, since those of a file are known before its lines; where the end is not known,
    it goes to and fro.
    """
    sizes = [each.size for each in inputs]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    columns = (
        TextColumn("translating"),
        BarColumn(),
        TextColumn("{task.fields[lines]:,} lines"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total, lines=0)

        def advance(lines: int) -> None:
            progress.update(task, completed=sum(each.position for each in inputs), lines=lines)

        yield advance


@contextmanager
def no_progress_bar(_inputs: Sequence[LineInput]) -> Iterator[Advance]:
    """Nothing instead."""
    yield lambda _lines: None
