"""A run is killed at random moments, again and again, and ends as if nothing had been."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from same_runs import assert_same_run
from toy_run import toy_overrides
from toy_trainings import Run

ROOT = Path(__file__).parents[2]
KILLS = 20
SETTINGS = {
    "model.dropout": 0.2,
    "tokenizer.bpe_dropout": 0.1,
    "batches.max_tokens": 96,
    "batches.accumulation": 2,
    "trainer.max_updates": 1_000_000,
    "trainer.log_every_updates": 1,
    "validation.every_updates": 5,
    "validation.bleu_sentences": 2,
    "validation.attention_sentences": 0,
    "checkpoints.every_updates": 1,
    # So many that nearly each update of both runs can be compared.
    "checkpoints.newest": 300,
    "checkpoints.average": "none",
}

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def begin(*overrides):
    command = [sys.executable, str(ROOT / "train.py"), *overrides]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    shown, complaints = process.communicate()
    assert process.returncode == 0, complaints
    return shown


def wait_for(process, text, times=1):
    """Reads what a process shows until a text has come so often; seconds between the last two."""
    before = now = time.monotonic()
    for line in process.stdout:
        if text in line:
            before, now, times = now, time.monotonic(), times - 1
            if times == 0:
                return now - before
    raise AssertionError(f"it ended first: {process.communicate()}")


def wait_for_unfinished_file(process, folder):
    while not any(folder.glob(".*.part")):
        assert process.poll() is None


def kill_some_time(process, run_folder, dice):
    """Kills a process while it starts, trains, validates or writes a state; says when."""
    moment = dice.choice(["starting", "training", "training", "validating", "writing", "writing"])
    if moment == "starting":
        wait_for(process, "run folder ")
        time.sleep(dice.random())
    else:
        seconds = wait_for(process, " update ", dice.randint(1, 4))
    if moment == "training":
        time.sleep(dice.random() * seconds)
    if moment == "validating":
        wait_for(process, "validation at update")
    if moment == "writing":
        wait_for_unfinished_file(process, run_folder / "checkpoints")
        time.sleep(dice.random() / 100)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    return moment


def updates_in(run_folder):
    last = torch.load(run_folder / "checkpoints" / "last.ckpt", weights_only=True)
    return last["latimer"]["updates"]


def test_a_run_that_is_killed_twenty_times_is_the_same_run(tmp_path):
    """Field cases 71, 72, 81, 88, 89 and 120: each state that it saved is equal, bit for bit."""
    overrides, dice = toy_overrides(tmp_path, SETTINGS), random.Random(1)
    killed, whole, moments = tmp_path / "killed", tmp_path / "whole", []
    process = begin(*overrides, f"run_folder={killed}")
    wait_for(process, " update ", 2)
    for number in range(KILLS):
        moments.append(kill_some_time(process, killed, dice))
        if number < KILLS - 1:
            process = begin(f"resume={killed}")
    end = f"trainer.max_updates={updates_in(killed) + 10}"
    finish(begin(f"resume={killed}", end))
    finish(begin(*overrides, end, f"run_folder={whole}"))
    assert_same_run(Run(None, killed, ""), Run(None, whole, ""))
    states = len(list((whole / "checkpoints").iterdir()))
    print(f"{KILLS} of {KILLS}: {states} files equal, killed while {', '.join(moments)}")


def test_the_workers_of_a_killed_run_keep_nobody_off(tmp_path):
    """They outlive it for some seconds, and had its files open."""
    overrides = toy_overrides(tmp_path, {**SETTINGS, "batches.loader_workers": 2})
    process = begin(*overrides, f"run_folder={tmp_path / 'run'}")
    wait_for(process, " update ", 3)
    process.kill()
    again = begin(f"resume={tmp_path / 'run'}", "trainer.max_updates=5")
    assert "goes on      after update" in finish(again)
    process.communicate()
