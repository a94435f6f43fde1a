"""Loggers and callbacks of other libraries, by the ``_target_`` of a section."""

import csv

import pytest
from pytorch_lightning.callbacks import EarlyStopping
from pytorch_lightning.loggers import CSVLogger

from latimer.errors import LatimerError
from latimer.training.plugins import check_plug_ins, make_callbacks, make_loggers

CSV = {"_target_": "pytorch_lightning.loggers.CSVLogger", "name": "csv", "version": ""}


def test_a_table_of_the_curves(run):
    ended = run(logger={"csv": CSV})
    with (ended.folder / "csv" / "metrics.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) for row in rows if row["train/loss"]] == [1, 2, 4, 6]
    assert [int(row["step"]) for row in rows if row["val/bleu"]] == [3, 6]
    assert not list(ended.folder.glob("events.out.tfevents.*"))


def test_no_logger_at_all(run):
    ended = run(logger={})
    assert not list(ended.folder.glob("events.out.tfevents.*"))
    assert "update 6 " in (ended.folder / "train.log").read_text(encoding="utf-8")


def test_patience_counts_validations(run):
    """Field case 65: three without an improvement of 100 nats, the first one not counted."""
    stop = {
        "_target_": "pytorch_lightning.callbacks.EarlyStopping",
        "monitor": "val/nll",
        "patience": 3,
        "min_delta": 100,
    }
    ended = run(callbacks={"stop": stop}, trainer__max_updates=100, validation__every_updates=2)
    assert list(ended.curve("val/nll")) == [2, 4, 6, 8]
    assert ended.checkpoints["last"]["latimer"]["updates"] == 8
    assert (ended.folder / "evaluation" / "first" / "result.json").exists()


def test_loggers_are_told_the_run_folder_unless_they_say_otherwise(tmp_path):
    there = {**CSV, "save_dir": str(tmp_path / "there")}
    here, elsewhere = make_loggers({"a": CSV, "b": there}, tmp_path / "here")
    assert isinstance(here, CSVLogger)
    assert (here.save_dir, elsewhere.save_dir) == (
        str(tmp_path / "here"),
        str(tmp_path / "there"),
    )


def test_callbacks_get_plain_arguments():
    """Field case 135."""
    section = {"_target_": "pytorch_lightning.callbacks.EarlyStopping", "monitor": "val/bleu"}
    [callback] = make_callbacks({"stop": {**section, "mode": "max", "patience": 7}})
    assert isinstance(callback, EarlyStopping)
    assert (callback.mode, callback.patience) == ("max", 7)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"_target_": "pytorch_lightning.callbacks.EarlyStoping"}, "EarlyStoping"),
        ({"_target_": "no_such_library.Callback"}, "no_such_library"),
        ({"_target_": "pytorch_lightning.callbacks.EarlyStopping"}, "monitor"),
        (
            {"_target_": "pytorch_lightning.callbacks.EarlyStopping", "moniter": "val/bleu"},
            "moniter",
        ),
        ({"_target_": "collections.Counter"}, "is no Callback of Lightning's"),
    ],
)
def test_a_wrong_section_is_named(section, message):
    with pytest.raises(LatimerError) as refused:
        make_callbacks({"mine": section})
    assert str(refused.value).startswith(f"callbacks.mine: {section['_target_']} ")
    assert message in str(refused.value)


def test_a_wrong_plug_in_leaves_no_run_folder(make_config, tmp_path):
    from latimer.screen import Screen
    from latimer.training.run import train

    config = make_config(callbacks={"mine": {"_target_": "no_such_library.Callback"}})
    with pytest.raises(LatimerError, match=r"callbacks\.mine"):
        train(config, Screen())
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"monitor": "val/blue"}, r"callbacks\.stop\.monitor=val/blue: must be one of .*val/bleu"),
        ({"monitor": "val/bleu"}, r"callbacks\.stop\.mode=min: write max"),
        ({"monitor": "val/nll", "mode": "max"}, r"callbacks\.stop\.mode=max: write min"),
    ],
)
def test_a_plug_in_waits_for_a_score_that_there_is_in_its_direction(make_config, changes, message):
    """Field cases 66 and 67."""
    stop = {"_target_": "pytorch_lightning.callbacks.EarlyStopping", **changes}
    with pytest.raises(LatimerError, match=message):
        check_plug_ins(make_config(callbacks={"stop": stop}))


def test_what_waits_for_no_score_may_stay(make_config):
    keep = {"_target_": "pytorch_lightning.callbacks.ModelCheckpoint", "every_n_train_steps": 5}
    check_plug_ins(make_config(callbacks={"keep": keep}))
