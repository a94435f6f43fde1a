"""``latimer translate`` in a process of its own, between other programs."""

import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from latimer.translation import Translator

LINES = ["the red boat", "", "Käse 🙂 old", "a", "  ", "a small blue door " * 5]
PROGRAM = "import sys; from latimer.cli import main; sys.argv[0] = 'latimer'; main()"
LOADED = """
import atexit, pathlib, sys
atexit.register(lambda: pathlib.Path("modules").write_text(" ".join(sys.modules)))
"""


@pytest.fixture
def start(tiny_checkpoint, tmp_path):
    """Starts the command with the tiny checkpoint, in a folder of its own."""
    processes = []

    def start(*arguments, program=PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **names):
        process = subprocess.Popen(
            [sys.executable, "-c", program, "translate", tiny_checkpoint, *arguments],
            cwd=tmp_path,
            env={**os.environ, **names},
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )
        hung = threading.Timer(300, process.kill)
        hung.start()
        processes.append((process, hung))
        return process

    yield start
    for process, hung in processes:
        hung.cancel()
        process.kill()
        process.communicate()


@pytest.fixture
def translations(tiny_checkpoint):
    return Translator.from_checkpoint(tiny_checkpoint, device="cpu").translate(LINES)


def test_a_program_that_waits_is_answered_and_ctrl_c_ends_quietly(start, translations):
    process = start()
    for line, translation in zip(LINES[:4], translations, strict=False):
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline().decode() == f"{translation}\n"
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert (process.stdout.read(), process.stderr.read()) == (b"", b"")


def test_a_reader_that_has_seen_enough_ends_it_quietly(start, tmp_path, translations):
    (tmp_path / "long.txt").write_text(f"{LINES[0]}\n" * 20_000)
    process = start("long.txt", "--chunk", "20")
    assert process.stdout.readline().decode() == f"{translations[0]}\n"
    process.stdout.close()
    assert process.wait() == 141
    assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_is_named(start):
    with Path("/dev/full").open("wb") as full:
        process = start(stdout=full)
        _, complaint = process.communicate(b"the red boat\n")
    assert process.returncode == 1
    assert complaint.decode().startswith("error: standard output: cannot be written to (No space")
    assert complaint.count(b"\n") == 1


def test_a_pipe_gives_what_a_call_gives_in_any_locale_and_loads_little(
    start, tmp_path, translations
):  # field cases 10, 28, 34
    names = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    process = start("--format", "text", program=LOADED + PROGRAM, **names)
    shown, summary = process.communicate("\n".join(LINES).encode())
    assert process.returncode == 0
    assert shown.decode() == "".join(f"{text}\n" for text in translations)
    assert "⁇" not in shown.decode()
    assert summary.decode().startswith("6 lines in ")
    loaded = {name.partition(".")[0] for name in (tmp_path / "modules").read_text().split()}
    assert "torch" in loaded
    unwanted = {"pytorch_lightning", "lightning", "hydra", "datasets", "sacrebleu", "matplotlib"}
    assert not unwanted & loaded


def resident_bytes():
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_does_not_grow_with_the_lines(tiny_checkpoint):  # field case 152
    translator = Translator.from_checkpoint(tiny_checkpoint, device="cpu")
    lines = (LINES[number % len(LINES)] for number in range(2000))
    used = [resident_bytes() for _ in translator.translate_lines(lines, chunk=100)]
    assert len(used) == 2000
    assert used[-1] < 1.05 * used[200]
