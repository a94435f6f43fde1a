"""What a person sees while a run goes on, kept word for word in the run's ``train.log``."""

import sys
from collections.abc import Sequence
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import TextIO

from rich.console import Console, RenderableType
from rich.table import Table

LOG_WIDTH = 120


class Screen:
    """The terminal, and from :meth:`attach` on a log file that also holds what came before."""

    def __init__(self) -> None:
        if isinstance(sys.stdout, TextIOWrapper):  # whatever the locale; the rest is escaped
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        self.console = Console(highlight=False, soft_wrap=True)
        if not self.console.is_terminal:
            self.console.width = LOG_WIDTH
        self._before_attaching = StringIO()
        self._log = _log_to(self._before_attaching)

    def print(self, *renderables: RenderableType) -> None:
        """Shows text (rich markup is not interpreted, since corpora hold brackets) or tables."""
        for console in (self.console, self._log):
            console.print(*renderables, markup=False, emoji=False)

    def status(self, text: str) -> None:
        """A line that a progress bar shows on a terminal: there it goes into the log file alone."""
        if not self.console.is_terminal:
            self.console.print(text, markup=False, emoji=False)
        self.note(text)

    def note(self, text: str) -> None:
        """A text for the log file alone."""
        self._log.print(text, markup=False, emoji=False)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Shows a table whose first column is text and whose other columns are figures."""
        table = Table(title=title, title_justify="left", title_style="bold")
        for number, column in enumerate(columns):
            table.add_column(column, justify="right" if number else "left")
        for row in rows:
            table.add_row(*row)
        self.print(table)

    def attach(self, path: Path) -> None:
        """Writes to ``path`` from now on, beginning with all that was shown so far."""
        log = path.open("a", encoding="utf-8", buffering=1)
        log.write(self._before_attaching.getvalue())
        self._log = _log_to(log)


def _log_to(file: TextIO) -> Console:
    """Breaks no line, so that the paths and commands in a log can be copied."""
    return Console(file=file, width=LOG_WIDTH, highlight=False, soft_wrap=True)
