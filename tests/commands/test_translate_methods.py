"""``latimer translate`` with samples instead of beams, and with several checkpoints at once."""

import pytest

from latimer.checkpoint import load_model, write_checkpoint
from latimer.commands.decoding import make_translator, read_settings
from latimer.decoding import SamplingSettings, SearchSettings
from latimer.errors import LatimerError
from latimer.translation import MinimumRiskSettings, Translator

LENGTHS = {"max_length_factor": 1.0, "max_length_offset": 4, "min_length": 1}


@pytest.fixture
def loaded(tiny_checkpoint):
    return load_model(tiny_checkpoint)


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        (["method=sampling"], SamplingSettings(**LENGTHS)),
        (["method=sampling", "top_p=0.9"], SamplingSettings(top_p=0.9, **LENGTHS)),
        (
            ["method=minimum_risk", "utility=bleu", "min_length=2"],
            MinimumRiskSettings(utility="bleu", **{**LENGTHS, "min_length": 2}),
        ),
        (["method=beam", "beam_size=5"], SearchSettings(beam_size=5, **LENGTHS)),
    ],
)
def test_a_method_is_chosen_with_its_usual_keys(loaded, given, settings):
    translator = make_translator(loaded, changes=read_settings(given), device="cpu")
    assert translator.settings == settings


def test_a_run_that_samples_is_asked_for_beams(loaded):
    drawing = {"samples": 2, "temperature": 0.5, "top_k": 0, "top_p": 1.0, "seed": 1}
    loaded.config["decoding"] = {"method": "sampling", "max_tokens": 99, **drawing, **LENGTHS}
    translator = make_translator(loaded, changes={}, device="cpu")
    assert translator.settings == SamplingSettings(**drawing, **LENGTHS)
    translator = make_translator(loaded, changes={"method": "beam"}, device="cpu")
    assert translator.settings == SearchSettings(**LENGTHS)


def test_an_unknown_method_is_told_with_those_there_are(loaded):
    with pytest.raises(LatimerError, match="method=nucleus: must be beam, sampling or minimum_"):
        make_translator(loaded, changes={"method": "nucleus"}, device="cpu")


def test_checkpoints_translate_together(latimer, tiny_checkpoint, make_contents, tmp_path):
    other, text = tmp_path / "other.ckpt", tmp_path / "text"
    write_checkpoint(make_contents(seed=2), other)
    text.write_text("the old boat\n\na red door\n", encoding="utf-8")
    code, shown = latimer(
        *("translate", tiny_checkpoint, text, "--ensemble", other, "--device", "cpu", "--quiet")
    )
    together = Translator.from_checkpoints([tiny_checkpoint, other], device="cpu")
    assert code == 0
    assert shown.out.split("\n")[:-1] == together.translate(["the old boat", "", "a red door"])


def test_an_ensemble_has_no_alignments(latimer, tiny_checkpoint, tmp_path):
    said, _ = latimer(
        *("translate", tiny_checkpoint, "--ensemble", tiny_checkpoint),
        *("--alignments", tmp_path / "alignments"),
    )
    assert str(said).startswith("error: --alignments: the attention of an ensemble")
