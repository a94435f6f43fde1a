"""How a run ends: at the first of its limits, by a signal, or by a loss that is not finite."""

import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from latimer.data.prepared import prepare
from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.training.run import train
from latimer.training.trainer import last_update, make_loaders
from toy_run import toy_overrides

ROOT = Path(__file__).parents[2]
SIGNALS = pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])


def updates_per_epoch(config):
    corpus = prepare(config.data, config.tokenizer, folder=Path(config.prepared_folder))
    return len(make_loaders(config, corpus)[0])


def updates(run):
    return run.checkpoints["last"]["latimer"]["updates"]


@pytest.mark.parametrize(
    ("max_updates", "max_epochs", "last"),
    [(100, None, 100), (None, 3, 72), (50, 3, 50), (100, 3, 72), (None, None, None)],
)
def test_the_first_limit_ends_a_run(make_config, max_updates, max_epochs, last):
    config = make_config(
        trainer__max_updates=max_updates,
        trainer__max_epochs=max_epochs,
        trainer__max_time="00:00:01",
    )
    assert last_update(config.trainer, updates_per_epoch=24) == last


def test_whole_epochs(run, make_config):
    one = updates_per_epoch(make_config())
    assert one > 3
    ended = run(trainer__max_updates=None, trainer__max_epochs=2)
    assert updates(ended) == 2 * one
    assert max(ended.curve("val/nll")) == 2 * one


def test_accumulated_batches_are_one_update(run, make_config):
    """Field case 59: four at a time, the rest of an epoch together."""
    batches = updates_per_epoch(make_config())
    limits = {"trainer__max_updates": None, "trainer__max_epochs": 2}
    assert updates(run(**limits, batches__accumulation=4)) == 2 * math.ceil(batches / 4)
    assert updates(run(**limits, batches__accumulation=100)) == 2


def test_time_is_a_limit(run):
    ended = run(
        trainer__max_updates=None,
        trainer__max_time="00:00:01",
        trainer__log_every_updates=1000,
        validation__every_updates=100_000,
        checkpoints__every_updates=1000,
    )
    last = updates(ended)
    assert last > 6
    assert list(ended.curve("val/nll")) == [last]
    assert ended.checkpoints["best"]["latimer"]["updates"] == last
    assert (ended.folder / "evaluation" / "first" / "result.json").exists()


def test_one_pair_trains_for_one_update_and_is_validated(run, tmp_path):
    """Field case 22."""
    pair = tmp_path / "one.tsv"
    pair.write_text("the red boat is here\tdas rot Boot ist hier\n", encoding="utf-8")
    file = {"file": str(pair)}
    ended = run(
        data__train=file,
        data__validation=file,
        data__test={"one": file},
        data__cleaning__drop_in_test=False,
        tokenizer__vocab_size=30,
        trainer__max_updates=1,
    )
    assert list(ended.curve("val/nll")) == list(ended.curve("train/nll")) == [1]
    assert updates(ended) == 1


def stop(make_config, callback, number, **arguments):
    """Trains until a callback's signal; returns how it exited."""
    section = {"_target_": f"watchers.{callback}", "number": int(number), **arguments}
    with pytest.raises(SystemExit) as ended:
        train(make_config(callbacks={"stop": section}), Screen())
    return ended.value.code


def last_checkpoint(tmp_path):
    [path] = tmp_path.glob("runs/toy/*/checkpoints/last.ckpt")
    return path, torch.load(path, weights_only=True)


@SIGNALS
def test_a_signal_lets_the_update_finish_and_saves_it(make_config, tmp_path, capsys, number, code):
    """Field case 88."""
    before = signal.getsignal(number)
    assert stop(make_config, "SendSignal", number, update=5) == code
    path, contents = last_checkpoint(tmp_path)
    assert contents["latimer"]["updates"] == 5
    assert contents["optimizer_states"][0]["state"][0]["step"] == 5
    said = f"stopped by {number.name} after update 5; the state was saved: {path}"
    assert said in capsys.readouterr().out
    assert said in (path.parents[1] / "train.log").read_text(encoding="utf-8")
    assert signal.getsignal(number) == before


def test_a_signal_in_a_validation_takes_effect_after_it(make_config, tmp_path):
    assert stop(make_config, "SendSignalInValidation", signal.SIGTERM, update=3) == 143
    path, contents = last_checkpoint(tmp_path)
    assert contents["latimer"]["updates"] == 3
    assert contents["latimer"]["scores"]["val/nll"] > 0
    assert path.with_name("best.ckpt").exists()


def test_a_signal_after_the_training_leaves_the_last_state_alone(make_config, tmp_path):
    """The average that is being validated is no state of the training."""
    assert stop(make_config, "SendSignalInTheEnd", signal.SIGTERM) == 143
    path, contents = last_checkpoint(tmp_path)
    step = torch.load(path.with_name("step_0000006.ckpt"), weights_only=True)
    assert contents["latimer"]["updates"] == 6
    for name, weight in step["state_dict"].items():
        assert torch.equal(contents["state_dict"][name], weight)


def test_a_second_signal_exits_at_once(make_config, tmp_path, monkeypatch):
    """Field case 88."""

    def exit_at_once(code):
        raise InterruptedError(f"left with {code}")

    monkeypatch.setattr(os, "_exit", exit_at_once)
    twice = {"_target_": "watchers.SendSignal", "number": 15, "update": 2, "times": 2}
    with pytest.raises(InterruptedError, match="left with 143"):
        train(make_config(callbacks={"stop": twice}), Screen())
    assert not list(tmp_path.glob("runs/toy/*/checkpoints/*.ckpt"))


@SIGNALS
def test_the_exit_code_of_the_command(tmp_path, number, code):
    """Field case 88, as a shell or a scheduler sees it."""
    overrides = toy_overrides(tmp_path, {"trainer.max_updates": 1_000_000})
    process = subprocess.Popen(
        [sys.executable, ROOT / "train.py", *overrides],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if " update 2 " in line:
            break
    process.send_signal(number)
    shown, complaints = process.communicate(timeout=300)
    assert process.returncode == code
    path, _ = last_checkpoint(tmp_path)
    assert f"stopped by {number.name}" in shown
    assert str(path) in shown
    assert complaints == ""


def test_a_loss_that_is_not_finite_ends_the_run(make_config, tmp_path):
    """Field case 55: what was written before is intact."""
    poison = {"_target_": "watchers.PoisonWeights", "update": 5}
    with pytest.raises(LatimerError, match=r"the loss became nan in update 5, at a rate of 0\.00"):
        train(make_config(callbacks={"poison": poison}), Screen())
    [folder] = tmp_path.glob("runs/toy/*/checkpoints")
    contents = {path.stem: torch.load(path, weights_only=True) for path in folder.iterdir()}
    assert {name: one["latimer"]["updates"] for name, one in contents.items()} == {
        "best": 3,
        "last": 4,
        "step_0000002": 2,
        "step_0000004": 4,
    }
    for one in contents.values():
        assert all(weight.isfinite().all() for weight in one["state_dict"].values())


def test_a_gradient_that_is_not_finite_ends_the_run_before_it_is_applied(make_config, tmp_path):
    """Field case 55: no checkpoint may get weights that are not finite."""
    poison = {"_target_": "watchers.PoisonGradient", "update": 4}
    with pytest.raises(LatimerError, match="in update 4"):
        train(make_config(callbacks={"poison": poison}), Screen())
    [folder] = tmp_path.glob("runs/toy/*/checkpoints")
    assert not (folder / "step_0000004.ckpt").exists()


@pytest.mark.parametrize(
    ("update", "message"),
    [(3, "the loss on the validation set became nan in update 3"), (4, "weights became .* 4")],
    ids=["before a validation", "before a checkpoint"],
)
def test_weights_that_an_update_ruined_are_not_saved(make_config, tmp_path, update, message):
    """Field case 55: what a run would go on from is the state before."""
    poison = {"_target_": "watchers.PoisonUpdate", "update": update}
    with pytest.raises(LatimerError, match=message):
        train(make_config(callbacks={"poison": poison}), Screen())
    [folder] = tmp_path.glob("runs/toy/*/checkpoints")
    files = {path.stem: torch.load(path, weights_only=True) for path in folder.iterdir()}
    assert "last" in files
    for contents in files.values():
        assert contents["latimer"]["updates"] < update
        assert all(weight.isfinite().all() for weight in contents["state_dict"].values())


def test_the_log_says_why_a_run_failed(make_config, tmp_path):
    poison = {"_target_": "watchers.PoisonWeights", "update": 2}
    with pytest.raises(LatimerError):
        train(make_config(callbacks={"poison": poison}), Screen())
    (log,) = (tmp_path / "runs").rglob("train.log")
    assert "error: the " in log.read_text(encoding="utf-8")


def test_learned_positions_must_reach_to_the_end_of_the_validation_set(make_config, tmp_path):
    """It would end the run at its first validation otherwise."""
    settings = {"model__positions": "learned", "data__cleaning__max_length": 8}
    for name in ("validation.en", "validation.de"):
        (tmp_path / name).write_text(f"{'red boat ' * 30}\n", encoding="utf-8")
    with pytest.raises(LatimerError, match=r"model\.max_length=8: .* write model\.max_length="):
        train(make_config(**settings, model__max_length=8), Screen())
    assert not (tmp_path / "runs").exists()
