"""The two scripts as a person starts them: one message, an exit code, and nothing left behind."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def start(tmp_path):
    """Runs a script in an empty folder."""

    def run(script: str, *arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, str(ROOT / script), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def test_mistakes_end_a_run_before_it_starts(start, tmp_path):
    ended = start("train.py", "++model.dmodel=3", "max_steps=0", "schedule.rate=abc")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.split("\n") == [
        "error: 3 mistakes in the configuration:",
        "  model.dmodel=3: unknown key; did you mean model.d_model?",
        "  schedule.rate=abc: must be a number",
        "  max_steps=0: unknown key; did you mean trainer.max_updates?",
        "",
    ]
    assert list(tmp_path.iterdir()) == []


def test_an_evaluation_needs_a_checkpoint(start, tmp_path):
    ended = start("evaluate.py")
    assert ended.returncode == 1
    assert ended.stderr == "error: checkpoint: has no value; write checkpoint=...\n"
    assert list(tmp_path.iterdir()) == []


# field cases 138 and 139
def test_a_sweep_shows_each_failure_and_goes_on(start):
    ended = start("train.py", "-m", "seed=-1,-2", "sweep_folder=sweep")
    assert ended.returncode == 1
    head = ["sweep folder sweep", "job 01 of 02: seed=-1", "job 02 of 02: seed=-2"]
    assert ended.stdout.split("\n")[:3] == head
    for seed in (-1, -2):
        assert f"error: seed={seed}: must be at least 0\n" in ended.stderr
    assert "Traceback" not in ended.stderr


# field case 142
def test_help_lists_groups_and_examples(start):
    shown = start("train.py", "--help")
    assert shown.returncode == 0
    assert "model: base, big, small, tiny" in shown.stdout
    assert "python train.py experiment=multi30k" in shown.stdout
