"""Runs that were stopped by a signal go on: whatever the model, and wherever they were stopped."""

import signal

import pytest

from same_runs import assert_same_contents, assert_same_run, resume
from toy_run import MUON
from toy_trainings import start

pytestmark = pytest.mark.slow

SHORT = {
    "model__dropout": 0.2,
    "trainer__max_updates": 9,
    "validation__every_updates": 5,
    "validation__bleu_sentences": 2,
    "validation__attention_sentences": 0,
    "checkpoints__every_updates": 4,
}
VARIANTS = {
    "paper": {},
    "rotary, swiglu, pre, rms": {
        "model__positions": "rotary",
        "model__activation": "swiglu",
        "model__norm_position": "pre",
        "model__norm": "rms",
        "model__attention_dropout": 0.1,
    },
    "learned, gelu, untied": {
        "model__positions": "learned",
        "model__max_length": 64,
        "model__activation": "gelu",
        "model__tying": "none",
        "model__feed_forward_dropout": 0.1,
    },
    "separate vocabularies": {"tokenizer__vocabulary": "separate", "model__tying": "decoder"},
    "bfloat16": {"trainer__precision": "bf16-mixed"},
    "weight decay": {
        "optimizer": {
            "kind": "adamw",
            "beta1": 0.9,
            "beta2": 0.98,
            "epsilon": 1e-9,
            "weight_decay": 0.1,
        },
    },
    "orthogonal updates": {"optimizer": MUON},
    "orthogonal updates in bfloat16": {"optimizer": MUON, "trainer__precision": "bf16-mixed"},
    "two processes": {"trainer__devices": 2},
    "a limit of epochs": {"trainer__max_updates": None, "trainer__max_epochs": 1},
}


def stop(config, update, kind="SendSignal"):
    """Trains until a signal in the given update; the run's folder."""
    section = {"_target_": f"watchers.{kind}", "number": int(signal.SIGTERM), "update": update}
    with pytest.raises(SystemExit) as ended:
        start(config.model_copy(update={"callbacks": {"stop": section}}))
    assert ended.value.code == 143


def stop_in(folder, config, *arguments):
    here = config.model_copy(update={"run_folder": str(folder)})
    stop(here, *arguments)
    return folder


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_stopped_run_goes_on_as_if_nothing_had_been(make_config, tmp_path, variant):
    """Field cases 71 and 88."""
    config = make_config(**{**SHORT, **VARIANTS[variant]})
    whole = start(config)
    run = resume(stop_in(tmp_path / "stopped", config, 6), config)
    ours, theirs = run.checkpoints, whole.checkpoints
    assert set(ours) == set(theirs)
    for name, contents in ours.items():
        assert_same_contents(contents, theirs[name], name)


@pytest.mark.parametrize("update", [3, 5, 9])
def test_workers_prepare_the_batches_that_follow(make_config, tmp_path, update):
    """Field case 72; at the updates 5 and 9 a validation is due, which the stop comes before."""
    settings = {**SHORT, "tokenizer__bpe_dropout": 0.1, "batches__accumulation": 2}
    whole = start(make_config(**settings))
    config = make_config(**settings, batches__loader_workers=2)
    run = resume(stop_in(tmp_path / "stopped", config, update), config)
    assert_same_run(run, whole)


def test_a_run_can_be_stopped_again_and_again(make_config, tmp_path):
    """Also in a validation, and where only the end is left to do."""
    config = make_config(**SHORT)
    whole, folder = start(config), tmp_path / "stopped"
    stop_in(folder, config, 2)
    again = config.model_copy(update={"resume": str(folder)})
    stop(again, 5)
    stop(again, 5, "SendSignalInValidation")
    stop(again, 9)
    stop(again, 9, "SendSignalInValidation")
    stop(again, 0, "SendSignalInTheEnd")
    run = resume(folder, config)
    assert_same_run(run, whole)
    log = (folder / "train.log").read_text(encoding="utf-8")
    states = [line for line in log.split("\n") if line.startswith("goes on")]
    assert [line.split(",")[0] for line in states] == [
        f"goes on      after update {update}" for update in (2, 5, 5, 9, 9, 9)
    ]


def test_the_curves_of_other_loggers_go_on(make_config, tmp_path):
    """Field case 120: a table, and what Lightning's own callbacks log."""
    table = {"_target_": "pytorch_lightning.loggers.CSVLogger", "name": "csv", "version": ""}
    monitor = {"_target_": "pytorch_lightning.callbacks.LearningRateMonitor"}
    config = make_config(**SHORT, logger={"csv": table}, trainer__log_every_updates=2)
    config = config.model_copy(update={"callbacks": {"rates": monitor}})
    whole = start(config).folder / "csv" / "metrics.csv"
    first = {**config.callbacks, "stop": signal_at(7)}
    with pytest.raises(SystemExit):
        start(config.model_copy(update={"callbacks": first, "run_folder": str(tmp_path / "run")}))
    run = resume(tmp_path / "run", config).folder / "csv" / "metrics.csv"
    assert without_speed(run) == without_speed(whole)


def signal_at(update):
    return {"_target_": "watchers.SendSignal", "number": int(signal.SIGTERM), "update": update}


def without_speed(path):
    import csv

    with path.open(newline="", encoding="utf-8") as file:
        return [
            {key: value for key, value in row.items() if key != "train/tokens_per_second"}
            for row in csv.DictReader(file)
        ]
