"""Processes beside this one: started together, watched, and never left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import IO, Self

from latimer.errors import LatimerError
from latimer.screen import Screen

POLL_SECONDS = 0.2
SHOWN_CHARACTERS = 4000


class Companions:
    """Runs a command several times beside the block, which doesn't outlive a failure of theirs.

    If one of them fails, the block usually notices: what connects it to them breaks. Its exception
    then becomes a :class:`LatimerError` that says what happened to the other. A block that hangs
    instead is ended, with the whole process, after ``patience`` seconds. If the block itself ends
    with an exception, they are killed.

    They are silent: their output goes nowhere, and their complaints are shown if they fail.

    Args:
        command: of all of them.
        environments: the variables that each has beside those of this process.
        given: what they read from their standard input.
        screen: for the last words of a process that is ended.
        patience: seconds from a failure to the end of a block that didn't notice.
    """

    def __init__(
        self,
        command: Sequence[str],
        environments: Sequence[Mapping[str, str]],
        *,
        given: str,
        screen: Screen,
        patience: float = 10.0,
    ) -> None:
        self._command, self._environments, self._given = command, environments, given
        self._screen, self._patience = screen, patience
        self._processes: list[subprocess.Popen[str]] = []
        self._complaints: list[IO[str]] = []
        self._files = ExitStack()
        self._left = threading.Event()

    def __enter__(self) -> Self:
        try:
            for environment in self._environments:
                self._start({**os.environ, **environment})
        except BaseException:
            self._end()
            raise
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            failure = self._failure_behind(error)
        finally:
            self._left.set()
            self._end()
        if failure:
            raise LatimerError(failure) from error

    def _start(self, environment: Mapping[str, str]) -> None:
        complaints = self._files.enter_context(
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        )
        process = subprocess.Popen(
            self._command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            text=True,
            # A Ctrl-C is for the first process, which tells the others.
            start_new_session=True,
        )
        self._processes.append(process)
        self._complaints.append(complaints)
        assert process.stdin is not None
        # One that has ended by now reads nothing; why it did is told as any other failure is.
        with suppress(BrokenPipeError), process.stdin as its_input:
            its_input.write(self._given)

    def _failure_behind(self, error: BaseException | None) -> str | None:
        """What became of a companion, if that can be why the block ended as it did."""
        if error is None:
            for process in self._processes:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(self._patience)
            return self._failure()
        if isinstance(error, LatimerError) or not isinstance(error, Exception):
            return None
        until = time.monotonic() + 10 * POLL_SECONDS
        while (failure := self._failure()) is None and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
        return failure

    def _failure(self) -> str | None:
        """Says how the first companion that failed ended; None if none did so far."""
        for number, process in enumerate(self._processes):
            if code := process.poll():
                which = f"process {number + 2} of {len(self._processes) + 1}"
                return f"{which} {self._how(number, code)}"
        return None

    def _how(self, number: int, code: int) -> str:
        if code == -signal.SIGKILL:
            return "was killed; too little memory is the usual reason"
        self._complaints[number].seek(0)
        said = self._complaints[number].read()[-SHOWN_CHARACTERS:].strip()
        return f"ended with exit code {code}" + (f"; it said:\n{said}" if said else "")

    def _watch(self) -> None:
        """Ends this process if it doesn't leave after a failure."""
        while not self._left.wait(POLL_SECONDS):
            failure = self._failure()
            if failure is None or self._left.wait(self._patience):
                continue
            self._screen.note(f"error: {failure}")
            print(f"error: {failure}", file=sys.stderr, flush=True)
            self._end()
            os._exit(1)

    def _end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._files.close()


def end_with(parent: int) -> None:
    """Ends this process when its parent, who started it, is no longer there."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
