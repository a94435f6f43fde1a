"""The configuration of a run that goes on: its own, and over it what is written this time."""

import functools
import json
from pathlib import Path

import pytest
import yaml

from latimer.config.arguments import leave_to_schema
from latimer.config.compose import run_config
from latimer.config.resume import Given
from latimer.errors import LatimerError

STARTED_WITH = (
    "schedule=cosine",
    "schedule.rate=5e-4",
    "trainer.max_updates=3000",
    "model=tiny",
    "model.dropout=0.25",
    "validation.patience=7",
    "logger=csv",
)


@pytest.fixture(scope="module")
def stored(composed):
    return run_config(composed("train", *STARTED_WITH), Path("/there"))


@pytest.fixture
def started(tmp_path, stored):
    """A run's folder, as far as its configuration goes."""
    run = tmp_path / "runs" / "mine"
    run.mkdir(parents=True)
    write(stored, run)
    return run


def write(config, run):
    text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    (run / "config.yaml").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def resumed(composed, conf):
    composed = functools.cache(composed)
    groups = [folder.name for folder in conf.iterdir() if folder.is_dir()]

    def make(run, *overrides, folder=None):
        settings = [leave_to_schema(one, groups) for one in overrides]
        now = composed("train", *settings).copy()
        now.resume = str(run)
        given = Given([f"++resume={run}", *settings], groups)
        return run_config(now, folder or run.parents[1], given)

    return make


def test_a_resumed_run_has_its_own_configuration_and_not_the_defaults(started, stored, resumed):
    again = resumed(started)
    assert again == stored.model_copy(update={"resume": str(started)})
    assert again.schedule.decay_updates == 3000


def test_what_is_written_this_time_counts(started, resumed):
    again = resumed(
        started,
        "trainer.max_updates=9000",
        "trainer.max_epochs=null",
        "validation={every_updates: 10, patience: 9}",
        "batches.loader_workers=2",
        "checkpoints.newest=0",
        "logger=none",
        "callbacks=summary",
    )
    assert again.trainer.max_updates == 9000
    assert (again.validation.every_updates, again.validation.patience) == (10, 9)
    assert again.validation.bleu_sentences == 100
    assert (again.batches.loader_workers, again.checkpoints.newest) == (2, 0)
    assert (again.logger, list(again.callbacks)) == ({}, ["summary"])
    assert again.schedule.decay_updates == 3000, "the schedule goes on as it was planned"


REFUSED = {
    "model.dropout=0.1": "model.dropout=0.1: it has 0.25",
    "model.heads=2": "model.heads=2: it has ",
    "seed=2": "seed=2: it has 1",
    "batches.accumulation=2": "batches.accumulation=2: it has 1",
    "trainer.devices=2": "trainer.devices=2: it has 1",
    "trainer.gradient_clip=null": "trainer.gradient_clip=null: it has 1.0",
    "data.cleaning.max_length=64": "data.cleaning.max_length=64: it has ",
    "tokenizer.bpe_dropout=0.2": "tokenizer.bpe_dropout=0.2: it has 0.0",
    "loss.label_smoothing=0": "loss.label_smoothing=0.0: it has 0.1",
    "freeze=[encoder.*]": 'freeze=["encoder.*"]: it has []',
    "schedule.rate=1e-3": "schedule.rate=0.001: it has 0.0005",
    "optimizer.beta2=0.9": "optimizer.beta2=0.9: it has 0.98",
    "validation.bleu_sentences=7": "validation.bleu_sentences=7: it has 100",
    "decoding.beam_size=7": "decoding.beam_size=7: it has 4",
    "scoring.lowercase=true": "scoring.lowercase=true: it has false",
    "checkpoints.monitor=val/nll": "checkpoints.monitor=val/nll: it has val/bleu",
}


def test_all_that_shapes_a_run_is_refused_by_name_and_at_once(started, resumed):
    """Field case 74: stored and given value, and what to write."""
    with pytest.raises(LatimerError) as refusal:
        resumed(started, *REFUSED)
    for message in REFUSED.values():
        assert message in str(refusal.value)
    for advice in ("resume_reset=[optimizer,schedule]", "evaluate.py", f"init_from={started}"):
        assert str(refusal.value).count(advice) == 1


@pytest.mark.parametrize(
    ("override", "message", "advice"),
    [
        ("seed=2", "seed=2: it has 1", "init_from="),
        ("schedule=constant", "schedule.kind=constant: it has cosine", "resume_reset=[schedule]"),
        ("optimizer.beta2=0.9", "optimizer.beta2=0.9: it has 0.98", "resume_reset=[optimizer]"),
        ("decoding=greedy", "decoding.beam_size=1: it has 4", "evaluate.py"),
    ],
)
def test_the_advice_is_for_what_was_written(started, resumed, override, message, advice):
    with pytest.raises(LatimerError) as refusal:
        resumed(started, override)
    assert message in str(refusal.value)
    advices = ("init_from=", "resume_reset=", "evaluate.py")
    assert [one for one in advices if one in str(refusal.value)] == [advice.partition("[")[0]]
    assert advice in str(refusal.value)


def test_what_is_reset_may_change(started, resumed):
    """Field case 74."""
    again = resumed(
        started,
        "resume_reset=[optimizer,schedule]",
        "optimizer=adamw",
        "schedule=linear",
        "trainer.max_updates=9000",
    )
    assert again.resume_reset == ["optimizer", "schedule"]
    assert again.optimizer.kind == "adamw"
    assert (again.schedule.kind, again.schedule.decay_updates) == ("linear", 9000)


def test_a_new_schedule_refers_to_the_limits_of_the_run_and_not_to_the_default_ones(
    started, resumed
):
    again = resumed(started, "resume_reset=[schedule]", "schedule=linear", "schedule.rate=1e-3")
    assert again.schedule.decay_updates == 3000


def test_to_reset_without_a_run_to_resume_is_a_mistake(train_config):
    with pytest.raises(LatimerError, match=r"resume_reset: .*write resume=RUN_FOLDER too"):
        train_config("resume_reset=[optimizer]")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("experiment=multi30k", "experiment=multi30k: a resumed run has its own recipe"),
        ("debug=limit", "debug=limit: a resumed run has its own recipe"),
        ("run_folder=here", "run_folder=here: is for new runs"),
        ("init_from=best.ckpt", "init_from=best.ckpt: is for new runs"),
        ("mode=overwrite", "mode=overwrite deletes a run, and resume=... goes on with it"),
    ],
)
def test_what_only_a_new_run_can_have(started, resumed, override, message):
    with pytest.raises(LatimerError) as refusal:
        resumed(started, override)
    assert message in str(refusal.value)


def test_a_run_that_began_with_other_weights_goes_on(started, resumed, train_config):
    """What a new run was given is no longer asked for, and stands in its configuration."""
    write(train_config("init_from=best.ckpt", f"run_folder={started}"), started)
    assert Path(resumed(started).init_from).name == "best.ckpt"


def test_the_run_is_a_folder(started, resumed):
    root = started.parents[1]
    (started / "checkpoints").mkdir()
    (started / "checkpoints" / "last.ckpt").touch()
    for part in ("checkpoints", "checkpoints/last.ckpt"):
        with pytest.raises(LatimerError, match=f"write the run's folder: resume={started}$"):
            resumed(started / part, folder=root)
    with pytest.raises(LatimerError, match=f"there is no such folder; runs are:\n  {started}$"):
        resumed(started.with_name("other"), folder=root)
    with pytest.raises(LatimerError, match=f"holds no run, .*\n  {started}$"):
        resumed(started.parent, folder=root)


def test_a_path_begins_where_the_command_was_given(started, resumed, monkeypatch):
    monkeypatch.chdir("/")
    assert resumed(started.relative_to(started.parents[1]), folder=started.parents[1]).seed == 1


def test_what_was_prepared_is_found_from_elsewhere(started, resumed, tmp_path):
    assert resumed(started).prepared_folder == "data/prepared"
    for launched, expected in ((tmp_path, "data/prepared"), (started, f"{started}/data/prepared")):
        environment = json.dumps({"launch_folder": str(launched)})
        (started / "environment.json").write_text(environment, encoding="utf-8")
        assert resumed(started, folder=tmp_path).prepared_folder == expected


@pytest.mark.parametrize("text", ["seed: 1\n", "seed: [", "- a\n", ""])
def test_a_configuration_that_cannot_be_used_is_told_with_its_path(started, resumed, text):
    (started / "config.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(LatimerError, match=f"^{started / 'config.yaml'}: "):
        resumed(started)
