"""From the words on a command line to a search."""

import pytest

from latimer.checkpoint import load_model
from latimer.commands.decoding import make_translator, read_settings
from latimer.decoding import SamplingSettings, SearchSettings
from latimer.errors import LatimerError


@pytest.fixture
def loaded(tiny_checkpoint):
    return load_model(tiny_checkpoint)


def settings_of(loaded, *words, n_best=None):
    translator = make_translator(loaded, changes=read_settings(words), n_best=n_best, device="cpu")
    return translator.settings


def test_without_changes_the_run_decides(loaded):
    assert settings_of(loaded) == SearchSettings(beam_size=3, max_length_offset=4)
    assert make_translator(loaded, changes={}, device="cpu").max_tokens == 2000


def test_changes_are_written_as_in_yaml(loaded):
    words = ["beam_size=5", "decoding.length_penalty=average", "max_length_factor=2"]
    assert settings_of(loaded, *words, n_best=4) == SearchSettings(
        beam_size=5, length_penalty="average", max_length_factor=2, max_length_offset=4, n_best=4
    )
    changes = read_settings(["max_tokens=9"])
    assert make_translator(loaded, changes=changes, device="cpu").max_tokens == 9


def test_a_run_with_several_hypotheses_gives_one_text_a_line(loaded):
    loaded.config["decoding"]["n_best"] = 3
    assert settings_of(loaded).n_best == 1
    assert settings_of(loaded, n_best=2).n_best == 2


def test_another_method_has_its_own_defaults_and_the_runs_lengths(loaded):
    drawn = settings_of(loaded, "method=sampling", "samples=4", "temperature=0.5", n_best=4)
    assert drawn == SamplingSettings(samples=4, temperature=0.5, max_length_offset=4)
    assert settings_of(loaded, "method=minimum_risk").samples == 32


@pytest.mark.parametrize(
    ("words", "n_best", "message"),
    [
        (["beam_size"], None, "--set beam_size: write a key and its value"),
        (["beam_size=2", "decoding.beam_size=3"], None, "beam_size is set twice, to 2 and to 3"),
        (["beam_size=["], None, "the value can't be read"),
        (["beam_size=x"], None, "beam_size=x: must be a whole number"),
        (["beam_sise=2"], None, "did you mean beam_size"),
        (["temperature=2"], None, "belongs to sampling"),
        (["n_best=2"], None, "write --n-best 2"),
        ([], 4, "n_best=4: must be at most beam_size=3"),  # field case 103
        (["method=sampling"], 2, "--n-best 2: there are 1 samples; --set samples=2"),
        (["k\udce4=1"], None, "is not UTF-8 text"),
    ],
)
def test_a_mistake_is_named(loaded, words, n_best, message):
    with pytest.raises(LatimerError) as said:
        settings_of(loaded, *words, n_best=n_best)
    assert message in str(said.value)
