"""``python train.py -m``, as a person starts it; tests/sweeps has what happens inside."""

import json
import os
import re
import signal
import sys
from importlib import reload
from pathlib import Path
from types import SimpleNamespace

import pytest
import pytorch_lightning as pl
import torch
from hydra._internal.core_plugins import basic_launcher

from latimer.checkpoint import read_checkpoint
from latimer.errors import LatimerError
from toy_run import toy_overrides


class StopOnce(pl.Callback):
    """Interrupts the run with seed 2 during an update, unless there is a certain file already."""

    def __init__(self, marker: str, update: int) -> None:
        self.marker, self.update = Path(marker), update

    def on_train_batch_start(self, trainer, pl_module, *_arguments):
        due = pl_module.config.seed == 2 and trainer.global_step + 1 == self.update
        if due and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def without_training(monkeypatch):
    """Puts a function of the configuration in the place of a part of the training room."""

    def put(module, name, happens):
        stand_in = SimpleNamespace(**{name: lambda config, _screen: happens(config)})
        monkeypatch.setitem(sys.modules, f"latimer.training.{module}", stand_in)
        monkeypatch.setattr("latimer.sweeps.results.final_score", lambda *_: 1.0)
        monkeypatch.setattr("latimer.sweeps.results.bleu_scores", lambda _: {})

    return put


# field cases 138 and 139
def test_failures_are_noted_with_what_was_shown(command, without_training, tmp_path, monkeypatch):
    def train(config):
        if config.seed == 2:
            raise ZeroDivisionError("of mine")

    without_training("run", "train", train)
    monkeypatch.chdir(tmp_path)
    ended = command("train.py", "-m", "seed=-1,2,3", "model=tiny", "sweep_folder=s")
    assert ended.code == 1
    record = json.loads(Path("s/sweep.json").read_text(encoding="utf-8"))
    assert [job["status"] for job in record["jobs"]] == ["failed", "failed", "finished"]
    mistake = Path("s/01/error.log").read_text(encoding="utf-8")
    assert mistake == "seed=-1 model=tiny\n\nerror: seed=-1: must be at least 0\n"
    fault = Path("s/02/error.log").read_text(encoding="utf-8")
    assert fault.startswith("seed=2 model=tiny\n\nTraceback")
    assert fault.endswith("ZeroDivisionError: of mine\n")
    assert ended.complaints.startswith("error: seed=-1: must be at least 0\nTraceback")
    assert ended.complaints.endswith("ZeroDivisionError: of mine\n")
    assert "job 02 failed: ZeroDivisionError: of mine (s/02/error.log)" in ended.shown


def test_jobs_run_one_by_one_however_often_hydra_has_loaded_its_launcher(
    command, without_training, tmp_path, monkeypatch
):
    launchers = reload(basic_launcher)
    monkeypatch.setattr("latimer.sweeps.sweeper.BasicLauncher", launchers.BasicLauncher)
    reload(basic_launcher)
    without_training("run", "train", lambda config: print(f"trained {config.seed}"))
    monkeypatch.chdir(tmp_path)
    ended = command("train.py", "-m", "seed=1,2", "sweep_folder=s")
    assert ended.code == 0
    told = re.findall(r"job \d\d of 02|trained \d", ended.shown)
    assert told == ["job 01 of 02", "trained 1", "job 02 of 02", "trained 2"]


def test_a_dry_run_of_a_sweep_keeps_nothing(command, without_training, tmp_path, monkeypatch):
    def dry_run(config):
        if config.seed == 1:
            raise LatimerError("too little memory")

    without_training("dry_run", "dry_run", dry_run)
    monkeypatch.chdir(tmp_path)
    ended = command("train.py", "-m", "seed=1,2", "dry_run=true")
    assert ended.code == 1
    assert "job 01 failed: too little memory\n" in ended.shown
    rows = [line.split() for line in ended.shown.split("\n") if line.startswith("│")]
    assert [row[4] for row in rows] == ["failed", "finished"]
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_composed_ends_a_sweep_before_it_begins(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = command("train.py", "-m", "model=tiny,tinny")
    assert (ended.code, ended.shown) == (1, "")
    assert "model=tinny: no such option; did you mean tiny?" in ended.complaints
    assert list(tmp_path.iterdir()) == []


def test_a_single_run_has_no_sweep_folder(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = command("train.py", "sweep_folder=s")
    assert ended.code == 1
    assert ended.complaints.startswith("error: sweep_folder=s: is for sweeps; write -m too")
    assert list(tmp_path.iterdir()) == []


def test_evaluations_can_be_swept_too(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = command("evaluate.py", "-m", "checkpoint=a.ckpt,b.ckpt")
    assert ended.code == 1
    for name in ("a", "b"):
        assert f"error: {name}.ckpt: there is no such checkpoint\n" in ended.complaints
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_stopped_sweep_goes_on_as_if_it_had_not_stopped(command, tmp_path):
    """A real signal in the second of three jobs; field case 124: each job has its own curves."""
    stop = "test_sweeps.StopOnce"
    marker = tmp_path / "stopped"
    overrides = [
        "-m", *toy_overrides(tmp_path), "seed=1,2", f"callbacks.stop._target_={stop}",
        f"callbacks.stop.marker={marker}", "callbacks.stop.update=4",
    ]  # fmt: skip
    marker.touch()
    whole = command("train.py", *overrides, f"sweep_folder={tmp_path / 'whole'}")
    assert whole.code == 0
    marker.unlink()
    cut = [*overrides, f"sweep_folder={tmp_path / 'cut'}"]
    first = command("train.py", *cut)
    assert first.code == 130
    page = (tmp_path / "cut" / "01" / "run.md").read_text(encoding="utf-8")
    assert "seed=1 " in page
    assert "seed=1,2" not in page
    assert "sweep_folder" not in page
    assert "not finished: 02" in first.shown, first.shown
    second = command("train.py", *cut)
    assert (second.code, second.complaints) == (0, "")
    jobs = [jobs_in(tmp_path / name) for name in ("whole", "cut")]
    assert jobs[0] == jobs[1]
    for number in ("01", "02"):
        states = [
            read_checkpoint(tmp_path / name / number / "checkpoints" / "last.ckpt")["state_dict"]
            for name in ("whole", "cut")
        ]
        assert states[0].keys() == states[1].keys()
        assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])


def jobs_in(folder):
    record = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
    kept = ("number", "settings", "status", "score", "bleu", "folder")
    return [{key: job[key] for key in kept} for job in record["jobs"]]
