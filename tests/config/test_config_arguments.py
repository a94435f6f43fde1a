"""What a command line says before Hydra reads it, and what Hydra says about it."""

import shlex

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from latimer.config.arguments import as_argument, leave_to_schema, quoted, refuse_dashes
from latimer.config.evaluate import EvaluateConfig
from latimer.config.hydra_errors import explain
from latimer.config.run import RunConfig
from latimer.errors import LatimerError


# field case 142
@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["--lr", "0.1"], "--lr: settings are written without dashes; write schedule.rate=0.1"),
        (["--lr=0.1"], "--lr: settings are written without dashes; write schedule.rate=0.1"),
        (["seed=1", "--model.d-model", "64"], "write model.d_model=64"),
        (["--max-epochs=3"], "write trainer.max_epochs=3"),
        (["--lr", "seed=1"], "write schedule.rate=..."),
        (["--xyzzy"], "write key=..."),
    ],
)
def test_settings_with_dashes_are_refused_with_the_right_form(arguments, advice):
    with pytest.raises(LatimerError) as error:
        refuse_dashes(arguments, RunConfig)
    assert advice in str(error.value)


def test_the_advice_fits_the_script():
    with pytest.raises(LatimerError, match=r"write decoding\.beam_size=8"):
        refuse_dashes(["--beam", "8"], EvaluateConfig)


def test_flags_of_hydra_are_no_settings():
    refuse_dashes(["-m", "seed=1,2", "--cfg", "job", "--config-dir=/x", "--help"], RunConfig)


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("model.d_model=3", "++model.d_model=3"),
        ("sead=3", "++sead=3"),
        ("data.test.my-set.file=a=b", "++data.test.my-set.file=a=b"),
        ("model=small", "model=small"),
        ("hydra.verbose=true", "hydra.verbose=true"),
        ("hydra/launcher=basic", "hydra/launcher=basic"),
        ("+seed=1", "+seed=1"),
        ("~seed", "~seed"),
        ("--cfg=job", "--cfg=job"),
        ("seed", "seed"),
    ],
)
def test_unknown_keys_are_left_to_the_schema_and_groups_to_hydra(written, given):
    assert leave_to_schema(written, ["model"]) == given


# field cases 131 and 132
@pytest.mark.parametrize(
    ("path", "typed"),
    [
        ("runs/enm-en/2025-01-31_12-00-00", "checkpoint=runs/enm-en/2025-01-31_12-00-00"),
        ("my runs/a=1,b", """'checkpoint="my runs/a=1,b"'"""),
        ("runs/søk", """'checkpoint="runs/søk"'"""),
    ],
)
def test_a_printed_argument_is_quoted_where_it_must_be(path, typed):
    assert as_argument("checkpoint", path) == typed


@pytest.mark.parametrize(
    "value",
    [
        "Daten_ü,1.tsv",
        "a=b",
        "50%",
        "a@b",
        "*",
        "a#b",
        "数据.tsv",
        "a b{",
        "it's",
        'say "hi"',
        "[x",
    ],
)
def test_the_quoted_form_is_what_the_shell_and_hydra_take_as_text(value):
    [argument] = shlex.split(quoted(f"++data.path={value}"))
    [override] = OverridesParser.create().parse_overrides([argument])
    assert (override.key_or_group, override.value()) == ("data.path", value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model=smal"], "model=smal: no such option; did you mean small? There are: base, big"),
        (["data=xyzzy"], "data=xyzzy: no such option. There are: bible, files, multi30k"),
        (["seed"], "seed: settings are written key=value"),
        (
            ["data.path=Daten_ü,1.tsv"],
            "data.path=Daten_ü,1.tsv: can't be read; if the value is one text, quote it: "
            "'data.path=\"Daten_ü,1.tsv\"'",
        ),
        (["hydra.sweep.dirr=x"], "hydra.sweep.dirr: unknown key"),
        (["seed=range(1,3)"], "Sweep parameters 'seed=range(1,3)' requires --multirun"),
    ],
)
def test_errors_of_hydra_are_told_in_our_words(composed, overrides, message):
    with pytest.raises(HydraException) as error:
        composed("train", *overrides)
    assert explain(error.value, RunConfig).startswith(message)


def test_several_values_need_a_sweep(composed):
    with pytest.raises(HydraException) as error:
        composed("train", "data.path=a.tsv,b.tsv")
    assert explain(error.value, RunConfig) == (
        "data.path=a.tsv,b.tsv: several values are a sweep, which needs -m; if the value is one "
        "text, quote it: 'data.path=\"a.tsv,b.tsv\"'; if it is a list: 'data.path=[a.tsv,b.tsv]'"
    )
