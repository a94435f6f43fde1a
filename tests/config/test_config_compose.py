"""From the command line to typed values: numbers, paths, interpolations."""

import pytest
from omegaconf import OmegaConf

from latimer.config.compose import plain
from latimer.config.decoding import DecodingConfig
from latimer.errors import LatimerError


# field case 130
@pytest.mark.parametrize(
    ("written", "rate"),
    [("1e-4", 1e-4), ("1E-4", 1e-4), (".1", 0.1), ("1_000", 1000.0), ("1e3", 1000.0), ("2", 2.0)],
)
def test_numbers_may_be_written_in_all_usual_ways(train_config, tmp_path, written, rate):
    found = train_config(f"schedule.rate={written}").schedule.rate
    assert (found, type(found)) == (rate, float)
    (tmp_path / "my.yaml").write_text(f"rate: {written}\n", encoding="utf-8")
    assert OmegaConf.load(tmp_path / "my.yaml").rate == rate


def test_a_time_is_text(train_config):
    assert train_config("trainer.max_time=12:30:00").trainer.max_time == "12:30:00"


def test_truth_values_are_true_and_false_alone(train_config):
    assert train_config("data.cleaning.drop_copies=false").data.cleaning.drop_copies is False
    for written in ("no", "off", "0"):
        with pytest.raises(LatimerError, match=r"drop_copies=.*must be true or false"):
            train_config(f"data.cleaning.drop_copies={written}")


def test_a_run_is_named_after_its_languages(train_config):
    assert train_config().name == "enm-en"
    assert train_config("data=multi30k").name == "en-de"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("name=${nope}", "name: Interpolation key 'nope' not found"),
        ("name=${oc.env:LATIMER_NO_SUCH_VARIABLE}", "name: .*LATIMER_NO_SUCH_VARIABLE"),
        ("name=???", r"name: has no value; write name=\.\.\."),
    ],
)
def test_an_interpolation_that_leads_nowhere_is_told_with_its_key(train_config, override, message):
    with pytest.raises(LatimerError, match=f"^{message}"):
        train_config(override)


def test_nothing_of_omegaconf_is_left(composed):
    def kinds(value):
        children = value.values() if isinstance(value, dict) else value
        nested = isinstance(value, dict | list)
        return (
            {type(value)}.union(*(kinds(child) for child in children)) if nested else {type(value)}
        )

    raw = plain(composed("train", "callbacks=summary", "data=multi30k", "+x=[1,{a: 2}]"))
    assert kinds(raw) <= {dict, list, str, int, float, bool, type(None)}


# field case 133
def test_input_files_are_found_from_the_folder_of_the_command(train_config, tmp_path):
    config = train_config(
        "data=files",
        "data.source_language=en",
        "data.target_language=de",
        "data.train.file=../d.tsv",
        "data.validation.file=/v.tsv",
        "tokenizer.file=my.model",
    )
    assert config.data.train.file == str(tmp_path / ".." / "d.tsv")
    assert config.data.validation.file == "/v.tsv"
    assert config.tokenizer.file == str(tmp_path / "my.model")


@pytest.mark.parametrize("key", ["init_from", "init_from_partial"])
def test_a_checkpoint_to_begin_with_is_found_likewise(train_config, tmp_path, monkeypatch, key):
    assert getattr(train_config(), key) is None
    assert getattr(train_config(f"{key}=runs/a"), key) == str(tmp_path / "runs" / "a")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert getattr(train_config(f"{key}='~/a.ckpt'"), key) == str(tmp_path / "home" / "a.ckpt")


@pytest.mark.parametrize(
    "written", ["freeze=[encoder.*,*embedding*]", 'freeze=["encoder.*","*embedding*"]']
)
def test_patterns_may_be_quoted_or_not(train_config, written):  # field case 132
    assert train_config(written).freeze == ["encoder.*", "*embedding*"]


@pytest.mark.parametrize("schedule", ["linear", "cosine"])
def test_a_decay_ends_with_the_run_unless_it_is_told_otherwise(train_config, schedule):
    chosen = f"schedule={schedule}"
    assert train_config(chosen, "trainer.max_updates=700").schedule.decay_updates == 700
    epochs = ("trainer.max_updates=null", "trainer.max_epochs=3")
    with pytest.raises(LatimerError, match=r"^schedule\.decay_updates=null: must be a number of"):
        train_config(chosen, *epochs)
    given = train_config(chosen, *epochs, "schedule.decay_updates=900")
    assert given.schedule.decay_updates == 900


def test_a_plug_in_needs_no_plus(train_config):
    name = "pytorch_lightning.callbacks.ModelSummary"
    config = train_config(f"callbacks.mine._target_={name}", "callbacks.mine.max_depth=2")
    assert config.callbacks == {"mine": {"_target_": name, "max_depth": 2}}


def test_a_checkpoint_is_all_that_an_evaluation_needs(evaluation_config):
    config = evaluation_config("checkpoint=best.ckpt")
    assert (config.checkpoint, config.data, config.bootstrap) == ("best.ckpt", None, 1000)
    assert config.checkpoints == ["best.ckpt"]
    several = evaluation_config("checkpoint=[runs/a,'runs/b=1/best.ckpt']")
    assert several.checkpoints == ["runs/a", "runs/b=1/best.ckpt"]
    with pytest.raises(LatimerError, match=r"^checkpoint: has no value; write checkpoint=\.\.\.$"):
        evaluation_config()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("beam_size=8", "did you mean decoding.beam_size?"),
        ("device=gpu", "must be auto, cpu, mps, cuda, or one GPU of several as cuda:1"),
        ("bootstrap=-1", "must be at least 0"),
        ("test_sets=flickr", "must be a list, such as"),
        ("test_sets=[]", "must not be empty"),
        ("lowercase=yes", "must be true or false"),
        ("bleu_tokenizer=14a", "must be 13a, intl, zh,"),
        ("decoding.n_best=0", "must be at least 1"),
        ("report=yes", "must be true or false"),
        ("comet=''", "must not be empty"),
    ],
)
def test_an_evaluation_is_checked_too(evaluation_config, override, message):
    with pytest.raises(LatimerError) as error:
        evaluation_config("checkpoint=best.ckpt", override)
    assert message in str(error.value)


def test_an_evaluation_may_change_the_search(evaluation_config, train_config):
    trained = train_config("decoding.length_penalty=1").decoding
    same = evaluation_config("checkpoint=best.ckpt").decoding.applied_to(trained)
    assert same == trained
    changed = evaluation_config("checkpoint=best.ckpt", "decoding.beam_size=8").decoding
    wider = DecodingConfig(**{**trained.model_dump(), "beam_size": 8})
    assert changed.applied_to(trained) == wider


# field case 103
def test_the_changed_search_is_checked_again(evaluation_config, train_config):
    changes = evaluation_config("checkpoint=best.ckpt", "decoding.n_best=5").decoding
    with pytest.raises(LatimerError, match="n_best=5: must be at most beam_size=4"):
        changes.applied_to(train_config().decoding)


def test_a_home_folder_is_meant_as_such(train_config, monkeypatch):
    monkeypatch.setenv("HOME", "/home/wyclif")
    config = train_config('runs_folder="~/runs"', 'prepared_folder="~/prepared"')
    assert config.runs_folder == "/home/wyclif/runs"
    assert config.prepared_folder == "/home/wyclif/prepared"
    assert config.run_folder is None
