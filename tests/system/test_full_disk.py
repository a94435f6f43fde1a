"""A disk that is full ends a run with one message; what was saved before is whole, and goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from same_runs import assert_same_contents
from toy_run import toy_overrides
from toy_trainings import Run

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "model.dropout": 0.2,
    "trainer.max_updates": 40,
    "validation.every_updates": 100,
    "validation.bleu_sentences": 2,
    "validation.attention_sentences": 0,
    "checkpoints.every_updates": 1,
    "checkpoints.newest": 1000,
    "checkpoints.average": "none",
}

pytestmark = pytest.mark.slow


@pytest.fixture
def small_disk(tmp_path):
    """A file system of three megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3M", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system can be mounted here ({error})")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def train(*overrides):
    return subprocess.run(
        [sys.executable, str(ROOT / "train.py"), *overrides],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_whose_disk_was_full_goes_on_when_there_is_room(small_disk, tmp_path):
    """Field case 89."""
    overrides, run = toy_overrides(tmp_path, SETTINGS), small_disk / "run"
    whole = train(*overrides, f"run_folder={tmp_path / 'whole'}")
    assert (whole.returncode, whole.stderr) == (0, "")
    full = train(*overrides, f"run_folder={run}")
    assert full.returncode == 1
    assert full.stderr.count("\n") == 1, full.stderr
    assert full.stderr.startswith("error: ")
    assert "not written (No space left on device)" in full.stderr
    assert not any(run.rglob(".*.part"))
    states = Run(None, run, "").checkpoints  # all of them can be read
    updates = states["last"]["latimer"]["updates"]
    assert 2 < updates < 40
    assert updates == max(state["latimer"]["updates"] for state in states.values())
    still_full = train(f"resume={run}")
    assert still_full.returncode == 1
    assert "No space left on device" in still_full.stderr
    subprocess.run(["mount", "-o", "remount,size=30M", str(small_disk)], check=True)
    again = train(f"resume={run}")
    assert (again.returncode, again.stderr) == (0, "")
    both = Run(None, run, "").checkpoints, Run(None, tmp_path / "whole", "").checkpoints
    assert set(both[0]) == set(both[1])
    for name, contents in both[0].items():
        assert_same_contents(contents, both[1][name], name)
