"""``trainer.devices=2``, as a person starts it: one run, and all of its processes end together."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from toy_run import toy_overrides

ROOT = Path(__file__).parents[2]
ENDLESS = {"trainer.devices": 2, "trainer.max_updates": 1_000_000, "validation.every_updates": 1000}

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def one_thread_each(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def runs_in(folder):
    return [path.parent for path in folder.glob("runs/**/train.log")]


def test_one_command_is_one_run(new_command, tmp_path):
    """Field cases 17, 144 and 146: an odd number of micro-batches, for two processes."""
    changes = {
        "trainer.devices": 2,
        "trainer.max_updates": None,
        "trainer.max_epochs": 1,
        "batches.max_tokens": 240,  # seven of them for one process
        "checkpoints.every_updates": 2,
    }
    ended = new_command("train.py", *toy_overrides(tmp_path, changes), cwd=tmp_path)
    assert (ended.code, ended.complaints) == (0, "")
    [run] = runs_in(tmp_path)
    assert [*run.parent.iterdir()] == [run]
    assert (run / "train.log").read_text(encoding="utf-8") == ended.shown
    assert ended.shown.count("validation at update 4:") == 1
    assert (run / "run.md").exists()
    assert len([*(tmp_path / "prepared").glob("*/train.arrow")]) == 1
    assert '"cache": "miss"' in (run / "data.json").read_text(encoding="utf-8")


def test_a_sweep_of_such_runs(new_command, tmp_path):
    """Field case 147: the other processes don't begin the sweep again."""
    changes = {"trainer.devices": 2, "trainer.max_updates": 2, "checkpoints.newest": 0}
    overrides = [each for each in toy_overrides(tmp_path, changes) if not each.startswith("seed=")]
    ended = new_command("train.py", "-m", "seed=1,2", *overrides, cwd=tmp_path)
    assert (ended.code, ended.complaints) == (0, "")
    assert len(runs_in(tmp_path)) == 2


class Started:
    """A training that never ends by itself, and the number of its other process."""

    def __init__(self, folder: Path) -> None:
        self.first = subprocess.Popen(
            [sys.executable, ROOT / "train.py", *toy_overrides(folder, ENDLESS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for line in self.first.stdout:
            if " update 2 " in line:
                break
        children = Path(f"/proc/{self.first.pid}/task/{self.first.pid}/children").read_text()
        [self.other] = map(int, children.split())

    def wait(self) -> tuple[int, str, str]:
        """Until both have ended; the first one's exit code, and what it said."""
        shown, complaints = self.first.communicate(timeout=120)
        until = time.monotonic() + 60
        while _lives(self.other):
            assert time.monotonic() < until, "the other process lives on"
            time.sleep(0.1)
        return self.first.returncode, shown, complaints


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # a dead one whose parent didn't ask for it


@pytest.fixture
def started(tmp_path):
    if not Path("/proc/self/task").exists():
        pytest.skip("looks for processes in /proc")
    training = Started(tmp_path)
    yield training
    training.first.kill()


@pytest.mark.parametrize(
    ("send", "number", "code"),
    [(os.kill, signal.SIGTERM, 143), (os.killpg, signal.SIGINT, 130)],
    ids=["to the first", "to all"],
)
def test_a_signal_ends_all_after_the_same_update(started, tmp_path, send, number, code):
    """Field case 88."""
    send(started.first.pid, number)
    ended, shown, complaints = started.wait()
    assert (ended, complaints) == (code, "")
    assert shown.count(f"stopped by {number.name} after update ") == 1
    [run] = runs_in(tmp_path)
    contents = torch.load(run / "checkpoints" / "last.ckpt", weights_only=True)
    assert f"after update {contents['latimer']['updates']:,};" in shown


def test_a_process_that_is_killed_ends_the_others(started, tmp_path):
    os.kill(started.other, signal.SIGKILL)
    code, _, complaints = started.wait()
    assert code == 1
    assert complaints.startswith("error: process 2 of 2 was killed; ")
    assert complaints.count("\n") == 1
    [run] = runs_in(tmp_path)
    assert complaints in (run / "train.log").read_text(encoding="utf-8")


def test_the_others_end_with_the_first(started):
    started.first.kill()
    assert started.wait()[0] == -signal.SIGKILL
