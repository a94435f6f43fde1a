"""How a command ends that somebody ends."""

import os
import signal
import sys

import pytest
import typer

from latimer.commands.ending import ending_quietly
from latimer.commands.output import open_output

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="its signals are others")


def write_and(path, end):
    with ending_quietly(), open_output(path) as output:
        output.write(["one"])
        assert len(list(path.parent.iterdir())) == 1
        end()
        raise AssertionError("it went on")


def send(number):
    def end():
        assert signal.getsignal(number) is not signal.SIG_DFL, "it would end the tests"
        os.kill(os.getpid(), number)

    return end


def fail(error):
    def end():
        raise error

    return end


@needs_posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_nothing_half_written(tmp_path, name):
    number = getattr(signal, name)
    with pytest.raises(SystemExit) as ended:
        write_and(tmp_path / "out.txt", send(number))
    assert ended.value.code == 128 + number
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(number) is signal.SIG_DFL


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (BrokenPipeError, 141)])
def test_ctrl_c_and_a_reader_that_is_gone(tmp_path, error, code):
    with pytest.raises(typer.Exit) as ended:
        write_and(tmp_path / "out.txt", fail(error))
    assert ended.value.exit_code == code
    assert list(tmp_path.iterdir()) == []


@needs_posix
def test_a_second_signal_ends_at_once(tmp_path):
    def end():
        try:
            send(signal.SIGTERM)()
        finally:
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

    with pytest.raises(SystemExit):
        write_and(tmp_path / "out.txt", end)


@needs_posix
@pytest.mark.parametrize("former", [signal.SIG_IGN, lambda *_: None], ids=["ignored", "caught"])
def test_what_others_have_decided_about_signals_stays(former):
    before = signal.signal(signal.SIGHUP, former)
    try:
        with ending_quietly():
            send(signal.SIGHUP)()
            assert signal.getsignal(signal.SIGHUP) is former
        assert signal.getsignal(signal.SIGHUP) is former
    finally:
        signal.signal(signal.SIGHUP, before)
