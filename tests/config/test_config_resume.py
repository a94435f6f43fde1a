"""The configuration of a run that goes on: its own, and over it what is written this time."""

import json

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


@pytest.fixture
def started(tmp_path, train_config):
    """A run's folder, as far as its configuration goes."""
    run = tmp_path / "runs" / "mine"
    run.mkdir(parents=True)
    write(train_config(*STARTED_WITH), run)
    return run


def write(config, run):
    text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    (run / "config.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def resumed(composed, conf):
    groups = [folder.name for folder in conf.iterdir() if folder.is_dir()]

    def make(run, *overrides, folder=None):
        settings = [leave_to_schema(one, groups) for one in (f"resume={run}", *overrides)]
        given = Given(settings, groups)
        return run_config(composed("train", *settings), folder or run.parents[1], given)

    return make


def test_a_resumed_run_has_its_own_configuration_and_not_the_defaults(
    started, resumed, train_config
):
    again = resumed(started)
    assert again == train_config(*STARTED_WITH).model_copy(update={"resume": str(started)})
    assert again.schedule.decay_updates == 3000


def test_what_is_written_this_time_counts(started, resumed):
    again = resumed(
        started,
        "trainer.max_updates=9000",
        "trainer.max_epochs=null",
        "validation={every_updates: 10, patience: 9}",
        "batches.loader_workers=2",
        "checkpoints.newest=0",
        "~logger.csv",
        "callbacks=summary",
        "dry_run=true",
    )
    assert again.trainer.max_updates == 9000
    assert (again.validation.every_updates, again.validation.patience) == (10, 9)
    assert again.validation.bleu_sentences == 100
    assert (again.batches.loader_workers, again.checkpoints.newest) == (2, 0)
    assert (again.logger, list(again.callbacks), again.dry_run) == ({}, ["summary"], True)
    assert again.schedule.decay_updates == 3000, "the schedule goes on as it was planned"


REFUSED = {
    "model": ("model.dropout=0.1", "model.dropout=0.1: it has 0.25", "init_from="),
    "order": ("seed=2", "seed=2: it has 1", "init_from="),
    "batches": ("batches.accumulation=2", "batches.accumulation=2: it has 1", "init_from="),
    "devices": ("trainer.devices=2", "trainer.devices=2: it has 1", "init_from="),
    "clipping": ("trainer.gradient_clip=null", "gradient_clip=null: it has 1.0", "init_from="),
    "cleaning": ("data.cleaning.max_length=64", "data.cleaning.max_length=64", "init_from="),
    "frozen": ("freeze=[encoder.*]", 'freeze=["encoder.*"]: it has []', "init_from="),
    "rate": ("schedule.rate=1e-3", "schedule.rate=0.001: it has 0.0005", "resume_reset=[schedule]"),
    "moments": ("optimizer.beta2=0.9", "optimizer.beta2=0.9", "resume_reset=[optimizer]"),
    "a group": ("schedule=constant", "schedule.kind=constant: it has cosine", "[schedule]"),
    "BLEU": ("validation.bleu_sentences=7", "bleu_sentences=7: it has 100", "evaluate.py"),
    "search": ("decoding.beam_size=7", "decoding.beam_size=7: it has 4", "evaluate.py"),
    "merit": ("checkpoints.monitor=val/nll", "monitor=val/nll: it has val/bleu", "evaluate.py"),
}


@pytest.mark.parametrize(("override", "message", "advice"), REFUSED.values(), ids=REFUSED)
def test_what_shapes_a_run_is_refused_by_name(started, resumed, override, message, advice):
    """Field case 74: stored and given value, and what to write."""
    with pytest.raises(LatimerError) as refusal:
        resumed(started, override)
    assert message in str(refusal.value)
    assert advice in str(refusal.value)
    assert str(refusal.value).count("\n") <= 6


def test_all_that_is_refused_is_told_at_once(started, resumed):
    with pytest.raises(LatimerError) as refusal:
        resumed(started, "model.heads=2", "schedule.rate=1e-3", "optimizer.beta1=0.8", "seed=2")
    for part in ("model.heads=2", "schedule.rate", "optimizer.beta1", "seed=2"):
        assert part in str(refusal.value)
    assert "resume_reset=[optimizer,schedule]" in str(refusal.value)


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
    assert resumed(started).init_from == "best.ckpt"


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
