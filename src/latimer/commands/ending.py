"""How a command ends that somebody ends: without a word, and without half-written files."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

# A terminal that is closed sends the second; Windows has none.
ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def ending_quietly() -> Iterator[None]:
    """Ctrl-C, SIGTERM, and a reader that has seen enough, end a command without a word.

    A second SIGTERM ends it at once.

    Raises:
        SystemExit: with the exit code that a shell gives to such an end.
        typer.Exit: likewise.
    """
    # One that is ignored, as nohup does it, stays ignored.
    caught = [each for each in ENDS if signal.getsignal(each) is signal.SIG_DFL]
    for each in caught:
        signal.signal(each, _end)
    try:
        yield
    except KeyboardInterrupt as error:
        raise typer.Exit(128 + 2) from error
    except BrokenPipeError as error:
        raise typer.Exit(128 + 13) from error
    finally:
        for each in caught:
            signal.signal(each, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)
