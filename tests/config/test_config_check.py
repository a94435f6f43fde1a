"""Mistakes are found before anything starts, all at once, and told in plain words."""

import pytest

from latimer.config.check import check
from latimer.config.run import RunConfig, warnings
from latimer.errors import LatimerError


@pytest.fixture
def mistake(settings):
    """The message for the default configuration with one change."""

    def find(key, value):
        with pytest.raises(LatimerError) as error:
            check(settings({key: value}), RunConfig)
        return str(error.value)

    return find


def test_the_defaults_are_no_mistake(settings):
    config = check(settings(), RunConfig)
    assert config.data.format == "bible"
    assert warnings(config) == []


# field cases 128 and 66: what nobody reads is refused, with the nearest name
@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("model.dmodel", "model.d_model"),
        ("model.d_modell", "model.d_model"),
        ("sead", "seed"),
        ("d_model", "model.d_model"),
        ("optimizer.learning_rate", "schedule.rate"),
        ("optimizer.lr", "schedule.rate"),
        ("schedule.warmup_steps", "schedule.warmup_updates"),
        ("max_steps", "trainer.max_updates"),
        ("trainer.beam_size", "decoding.beam_size"),
        ("data.source_lang", "data.source_language"),
        ("data.cleaning.max_lenght", "data.cleaning.max_length"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_one(mistake, key, meant):
    assert mistake(key, 3) == f"{key}=3: unknown key; did you mean {meant}?"


def test_a_key_like_no_other_is_refused_with_those_there_are(mistake):
    message = mistake("loss.xyzzy", 1)
    assert message == "loss.xyzzy=1: unknown key; known are loss.label_smoothing"


# field cases 129, 64 and 67
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("schedule.rate", "abc", "schedule.rate=abc: must be a number"),
        ("schedule.rate", -1.0, "schedule.rate=-1.0: must be greater than 0"),
        ("schedule.rate", 0, "schedule.rate=0: must be greater than 0"),
        ("schedule.rate", float("nan"), "schedule.rate=nan: must be a finite number"),
        ("schedule.rate", float("inf"), "schedule.rate=inf: must be a finite number"),
        ("schedule.rate", True, "schedule.rate=true: must be a number"),
        ("schedule.rate", None, "schedule.rate: has no value; write schedule.rate=..."),
        ("schedule.rate", "???", "schedule.rate: has no value; write schedule.rate=..."),
        ("model.dropout", 1.0, "model.dropout=1.0: must be less than 1"),
        ("model.dropout", -0.1, "model.dropout=-0.1: must be at least 0"),
        ("model.d_model", 63, "model.d_model=63: must be a multiple of 2"),
        ("model.heads", 3, "model.heads=3: must divide d_model=256, unless d_k and d_v are both"),
        ("model.norm", "batch", "model.norm=batch: must be layer or rms"),
        ("model.norm_position", None, "model.norm_position: has no value"),
        ("model.max_length", 512, "model.max_length=512: must be null with positions=sinusoidal"),
        ("model.activation", "tanh", "model.activation=tanh: must be relu, gelu or swiglu"),
        ("model.attention_dropout", 1.0, "model.attention_dropout=1.0: must be less than 1"),
        ("model.feed_forward_dropout", -1, "model.feed_forward_dropout=-1: must be at least 0"),
        ("model.positions", "alibi", "model.positions=alibi: must be sinusoidal, learned or rot"),
        ("model", "small", "model=small: must be a section with keys of its own"),
        ("data.cleaning.drop_copies", "no", "data.cleaning.drop_copies=no: must be true or false"),
        ("data.cleaning.drop_copies", 1, "data.cleaning.drop_copies=1: must be true or false"),
        ("data.format", "csv", "data.format=csv: must be one of bible, files, hub"),
        ("schedule.kind", "step", "schedule.kind=step: must be one of paper, inverse_square"),
        ("optimizer.kind", "lion", "optimizer.kind=lion: must be one of adam, adamw, adafactor, m"),
        ("validation.every_updates", 1.0, "validation.every_updates=1.0: must be a whole number"),
        ("validation.every_updates", 0, "validation.every_updates=0: must be at least 1"),
        ("validation.every_updates", True, "validation.every_updates=true: must be a whole number"),
        ("checkpoints.mode", "max", "checkpoints.mode=max: unknown key"),
        ("checkpoints.monitor", "val/blue", "checkpoints.monitor=val/blue: must be val/bleu, val/"),
        ("validation.mode", "max", "validation.mode=max: unknown key"),
        ("decoding.beam_size", 0, "decoding.beam_size=0: must be at least 1"),
        ("decoding.max_length_offset", -1, "decoding.max_length_offset=-1: must be at least 0"),
        ("trainer.max_updates", 0, "trainer.max_updates=0: must be at least 1"),
        ("trainer.max_updates", None, "trainer.max_time=null: give at least one limit: "),
        ("trainer.max_time", "90", "trainer.max_time=90: must be a time as HH:MM:SS"),
        ("trainer.max_time", "01:60:00", "trainer.max_time=01:60:00: must be a time as HH:MM:SS"),
        ("trainer.max_time", "00:00:00", "trainer.max_time=00:00:00: must be a time as HH:MM:SS"),
        ("trainer.precision", "fp8", "trainer.precision=fp8: must be auto, float32, bf16-mixed or"),
        ("batches.max_tokens", 100, "batches: max_tokens=100 must be at least data.cleaning.max_"),
        ("loss.label_smoothing", 1, "loss.label_smoothing=1: must be less than 1"),
        ("name", "a/b", "name=a/b: is a folder's name: letters, digits, '_', '-' and '.'"),
        ("seed", -1, "seed=-1: must be at least 0"),
        ("logger", {"csv": {"name": "x"}}, "logger.csv: needs a key _target_"),
        ("model._target_", "os.system", "model._target_=os.system: unknown key"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(mistake, key, value, message):
    assert mistake(key, value).startswith(message)


ADAM = {"kind": "adam", "beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9}
PAPER = {"kind": "paper", "warmup_updates": 4000, "factor": 1.0}
CONSTANT = {"kind": "constant", "warmup_updates": 400, "rate": 1e-3}
LINEAR = {**CONSTANT, "kind": "linear", "decay_updates": 3000, "final_rate": 0.0}


# field case 56: a factor is no rate, and a rate no factor
@pytest.mark.parametrize(
    ("section", "chosen", "key", "others"),
    [
        ("schedule", PAPER, "rate", "inverse_square_root, constant, linear, cosine"),
        ("schedule", CONSTANT, "factor", "paper"),
        ("schedule", CONSTANT, "decay_updates", "linear, cosine"),
        ("optimizer", ADAM, "weight_decay", "adamw, adafactor, muon"),
        ("optimizer", ADAM, "momentum", "muon"),
        ("optimizer", ADAM, "beta2_decay", "adafactor"),
    ],
)
def test_a_key_of_another_kind_is_refused_with_those_that_have_it(
    settings, section, chosen, key, others
):
    check(settings({section: chosen}), RunConfig)
    with pytest.raises(LatimerError) as error:
        check(settings({section: {**chosen, key: 2}}), RunConfig)
    known = ", ".join(f"{section}.{name}" for name in chosen)
    assert str(error.value) == (
        f"{section}.{key}=2: not a key of the chosen {section}, which has {known}; "
        f"it belongs to {others}"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"decay_updates": None},
            "schedule.decay_updates=null: must be a number of updates, since",
        ),
        (
            {"decay_updates": 400},
            "schedule.decay_updates=400: must be more than warmup_updates=400",
        ),
        ({"final_rate": 0.1}, "schedule.final_rate=0.1: must be at most rate=0.001, the peak"),
    ],
)
def test_a_decay_that_cannot_be_is_refused(mistake, changes, message):
    assert mistake("schedule", {**LINEAR, **changes}).startswith(message)


def test_a_run_begins_with_one_checkpoint(settings):
    for key in ("init_from", "init_from_partial"):
        check(settings({key: "best.ckpt"}), RunConfig)
    with pytest.raises(
        LatimerError, match=r"^init_from_partial=b: a run begins with all .* one of"
    ):
        check(settings({"init_from": "a", "init_from_partial": "b"}), RunConfig)


def test_all_mistakes_are_told_at_once(settings):
    changes = {"model.heads": 3, "model.dmodel": 64, "schedule.rate": "abc", "sead": 2}
    with pytest.raises(LatimerError) as error:
        check(settings(changes), RunConfig)
    heading, *mistakes = str(error.value).split("\n  ")
    assert heading == "4 mistakes in the configuration:"
    assert [mistake.partition(":")[0] for mistake in mistakes] == [
        "model.heads=3",
        "model.dmodel=64",
        "schedule.rate=abc",
        "sead=2",
    ]


def test_keys_do_not_show_the_names_of_alternatives(settings):
    files = {
        "format": "files",
        "source_language": "en",
        "target_language": "de",
        "cleaning": settings()["data"]["cleaning"],
        "train": {"file": "a.tsv", "fle": "b.tsv"},
        "validation": {"file": 3},
        "test": {"mine": {"sorce": "a.en"}, "../x": {"file": "c.tsv"}},
    }
    with pytest.raises(LatimerError) as error:
        check(settings({"data": files}), RunConfig)
    assert str(error.value).split("\n  ")[1:] == [
        "data.train.fle=b.tsv: unknown key; did you mean data.train.file?",
        "data.validation.file=3: must be text",
        "data.test.mine.sorce=a.en: unknown key; did you mean data.test.mine.source?",
        "data.test=../x: is a folder's name: letters, digits, '_', '-' and '.'",
    ]


def test_heads_need_not_divide_the_width_if_both_of_their_widths_are_given(settings):
    given = check(settings({"model.heads": 3, "model.d_k": 64, "model.d_v": 32}), RunConfig)
    assert (given.model.heads, given.model.d_k, given.model.d_v) == (3, 64, 32)
    with pytest.raises(LatimerError, match=r"model\.heads=3: must divide"):
        check(settings({"model.heads": 3, "model.d_k": 64}), RunConfig)


def test_learned_positions_need_a_number_that_the_longest_pair_fits_in(settings):
    learned = {"model.positions": "learned"}
    check(settings({**learned, "model.max_length": 128}), RunConfig)
    with pytest.raises(LatimerError, match=r"model\.max_length=null: must be a whole number"):
        check(settings(learned), RunConfig)
    with pytest.raises(LatimerError, match=r"max_length=127 must be at least .*max_length=128"):
        check(settings({**learned, "model.max_length": 127}), RunConfig)


def test_a_matrix_is_shared_by_both_sides_only_if_their_vocabulary_is(settings):
    separate = {"tokenizer.vocabulary": "separate"}
    with pytest.raises(LatimerError, match=r"write model\.tying=decoder or tokenizer\.vocabulary="):
        check(settings({**separate, "model.tying": "all"}), RunConfig)
    for tying in ("decoder", "none"):
        check(settings({**separate, "model.tying": tying}), RunConfig)


def test_a_tokenizer_that_is_given_is_of_both_sides(settings):
    given = {"tokenizer.file": "my.model"}
    check(settings(given), RunConfig)
    with pytest.raises(LatimerError, match=r"^tokenizer\.file=my\.model: is one model for both si"):
        check(settings({**given, "tokenizer.vocabulary": "separate"}), RunConfig)


def test_rotary_positions_need_heads_of_an_even_width(settings):
    rotary = {"model.positions": "rotary"}
    check(settings(rotary), RunConfig)
    check(settings({**rotary, "model.d_k": 6, "model.d_v": 5}), RunConfig)
    narrow = {"model.d_model": 36, "model.heads": 12}
    for changes in ({"model.d_k": 3}, narrow):
        with pytest.raises(LatimerError, match=r"positions=rotary: turns pairs .* d_k=3 .* even"):
            check(settings({**rotary, **changes}), RunConfig)
    with pytest.raises(LatimerError, match=r"max_length=512: must be null with positions=rotary"):
        check(settings({**rotary, "model.max_length": 512}), RunConfig)


def test_a_mistake_in_the_sizes_is_not_told_twice(settings):
    changes = {"model.positions": "rotary", "model.heads": 0, "model.max_length": 9}
    with pytest.raises(LatimerError) as error:
        check(settings(changes), RunConfig)
    assert [line.split(":")[0] for line in str(error.value).split("\n  ")[1:]] == [
        "model.heads=0",
        "model.max_length=9",
    ]


@pytest.mark.parametrize(
    "limits", [{"max_updates": 1}, {"max_epochs": 1}, {"max_time": "00:00:01"}]
)
def test_one_limit_is_enough(settings, limits):
    none = {"max_updates": None, "max_epochs": None, "max_time": None}
    changes = {f"trainer.{key}": value for key, value in {**none, **limits}.items()}
    check(settings(changes), RunConfig)


# field case 103
def test_there_are_no_more_translations_than_beams(settings):
    check(settings({"decoding.n_best": 4}), RunConfig)
    with pytest.raises(LatimerError, match=r"^decoding\.n_best=5: must be at most beam_size=4$"):
        check(settings({"decoding.n_best": 5}), RunConfig)


def test_a_whole_number_may_stand_for_a_real_one(settings):
    assert check(settings({"schedule.rate": 1}), RunConfig).schedule.rate == 1.0


def test_what_was_checked_cannot_change(settings):
    config = check(settings(), RunConfig)
    with pytest.raises(ValueError, match="frozen"):
        config.seed = 2


# field cases 54 and 56
@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"schedule.warmup_updates": 0}, "without warm-up often diverges"),
        ({"schedule.warmup_updates": 3001, "trainer.max_updates": 3000}, "is never reached"),
        (
            {"schedule": {"kind": "paper", "warmup_updates": 10, "factor": 1e-3}},
            "schedule.factor=0.001 multiplies the paper's formula",
        ),
        (
            {"schedule": {**LINEAR, "decay_updates": 2000}, "trainer.max_updates": 3000},
            "the last 1000 updates stay at schedule.final_rate=0",
        ),
        (
            {"schedule": {**LINEAR, "decay_updates": 3001}, "trainer.max_updates": 3000},
            "schedule.final_rate=0 is never reached",
        ),
    ],
)
def test_what_is_seldom_meant_is_warned_of(settings, changes, part):
    [warning] = warnings(check(settings(changes), RunConfig))
    assert part in warning


@pytest.mark.parametrize("limits", [{}, {"max_updates": None, "max_epochs": 3}])
def test_a_decay_until_the_end_is_no_warning(settings, limits):
    """Nor is one of a run that counts epochs, whose updates are not known yet."""
    changes = {f"trainer.{key}": value for key, value in {"max_updates": 3000, **limits}.items()}
    assert warnings(check(settings({"schedule": LINEAR, **changes}), RunConfig)) == []


def test_no_warm_up_is_no_warning_with_pre_norm(settings):
    changes = {"schedule.warmup_updates": 0, "model.norm_position": "pre"}
    assert warnings(check(settings(changes), RunConfig)) == []
