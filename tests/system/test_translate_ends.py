"""``latimer translate`` is told to end, in a process of its own."""

import os
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = "import sys; from latimer.cli import main; sys.argv[0] = 'latimer'; main()"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="its signals are others")
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gz"])
def test_a_signal_leaves_no_unfinished_file(tiny_checkpoint, tmp_path, compressed):
    folder = tmp_path / "out"
    folder.mkdir()
    (tmp_path / "long.txt").write_text("the red boat\n" * 500_000)
    output = folder / ("texts.gz" if compressed else "texts")
    command = ["translate", tiny_checkpoint, tmp_path / "long.txt", "--output", output]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command, "--chunk", "20"],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        while not list(folder.glob(".*.part")):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        shown, complaints = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, shown, complaints) == (143, b"", b"")
    assert list(folder.iterdir()) == []
