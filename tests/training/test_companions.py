"""Processes beside a training: whoever fails, all of them end, and the reason is told."""

import subprocess
import sys
import textwrap

import pytest

from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.training.companions import Companions

READS = "import os, sys; sys.exit(os.environ['NUMBER'] + sys.stdin.read() not in ('1 a', '2 a'))"
FAILS = "import sys; print('not shown'); sys.exit('the reason')"
LIVES_LONG = "import time; time.sleep(600)"


def beside(code: str, count: int = 1, patience: float = 60.0, given: str = " a") -> Companions:
    return Companions(
        [sys.executable, "-c", code],
        [{"NUMBER": str(number)} for number in range(1, count + 1)],
        given=given,
        screen=Screen(),
        patience=patience,
    )


def test_each_reads_what_is_given_and_its_own_variables():
    with beside(READS, count=2):
        pass


def test_a_failure_is_told_with_its_reason(capfd):
    told = r"process 2 of 3 ended with exit code 1.*\nthe reason$"
    with pytest.raises(LatimerError, match=told), beside(FAILS, count=2):
        pass
    assert capfd.readouterr() == ("", "")


def test_a_broken_connection_is_told_as_the_failure_behind_it():
    with pytest.raises(LatimerError, match="the reason") as told, beside(FAILS):
        raise RuntimeError("connection closed by peer")
    assert isinstance(told.value.__cause__, RuntimeError)


def test_a_companion_that_was_killed():
    killed = "import os; os.kill(os.getpid(), 9)"
    told = "process 2 of 2 was killed; too little memory"
    with pytest.raises(LatimerError, match=told), beside(killed):
        pass


def test_one_that_ends_before_it_has_read_what_it_is_given():
    long = "a" * 2**20  # more than a pipe holds
    with (
        pytest.raises(LatimerError, match="the reason"),
        beside(FAILS, given=long),
    ):
        pass


@pytest.mark.parametrize("error", [LatimerError("x"), SystemExit(143), ValueError("x")])
def test_an_error_of_the_block_ends_the_others(error):
    companions = beside(LIVES_LONG)
    with pytest.raises(type(error)) as raised, companions:
        raise error
    assert raised.value is error
    assert [process.returncode for process in companions._processes] == [-9]


def test_a_block_that_hangs_is_ended():
    script = f"""
        import sys, time
        from latimer.screen import Screen
        from latimer.training.companions import Companions
        command = [sys.executable, "-c", {FAILS!r}]
        with Companions(command, [{{}}], given="", screen=Screen(), patience=0.1):
            time.sleep(600)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "error: process 2 of 2 ended with exit code 1; it said:\nthe reason\n"


def test_a_process_ends_with_its_parent():
    """However the parent ended, without a chance to say so."""
    script = """
        import os, time
        from latimer.training.companions import end_with
        parent = os.getpid()
        if os.fork() == 0:
            end_with(parent)
            print("ready", flush=True)
            time.sleep(600)
        else:
            time.sleep(600)
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout.readline() == "ready\n"
    parent.kill()
    shown, _ = parent.communicate(timeout=60)  # both have the pipe: it ends when both have ended
    assert shown == ""
