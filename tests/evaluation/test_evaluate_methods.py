"""Test sets translated in other ways than by beam search, and by several checkpoints at once."""

import json

import pytest

from latimer.checkpoint import load_model
from latimer.decoding import SamplingSettings
from latimer.errors import LatimerError
from latimer.evaluation import evaluate
from latimer.screen import Screen
from latimer.translation import MinimumRiskSettings, Translator

LENGTHS = {"max_length_factor": 1.0, "max_length_offset": 4, "min_length": 1}
DRAWING = {"samples": 3, "temperature": 0.9, "top_k": 20, "top_p": 0.95, "seed": 5}


def read_result(run, name="news"):
    path = run.parents[1] / "evaluation" / name / "result.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("decoding", "settings"),
    [
        ({"method": "sampling"}, SamplingSettings(**DRAWING, **LENGTHS)),
        (
            {"method": "minimum_risk", "utility": "bleu"},
            MinimumRiskSettings(**DRAWING, **LENGTHS, utility="bleu"),
        ),
    ],
)
def test_samples_of_a_checkpoint_that_was_trained_with_beam_search(
    make_run, make_config, news_lines, decoding, settings, capsys
):
    run = make_run()
    [result] = evaluate(make_config(run, {**decoding, **DRAWING}), Screen())
    translator = Translator.from_checkpoint(run, settings, device="cpu")
    assert result.texts == translator.translate(news_lines[0])
    written = read_result(run)["decoding"]
    assert written == {**written, **decoding, **DRAWING, **LENGTHS}
    assert "beam_size" not in written
    assert f"{settings.described}, float32 on cpu" in capsys.readouterr().out


def test_another_method_s_key_is_refused_before_anything_is_translated(make_run, make_config):
    with pytest.raises(LatimerError, match=r"decoding\.temperature=0\.9: not a key of the chosen"):
        evaluate(make_config(make_run(), {"temperature": 0.9}), Screen())


def test_checkpoints_translate_together(make_run, make_config, news_lines, capsys):
    one, two = make_run("one"), make_run("two", seed=2)
    evaluate(make_config(one), Screen())
    [result] = evaluate(make_config(one, ensemble=[str(two)]), Screen())
    together = Translator.from_checkpoints([one, two], device="cpu").translate(news_lines[0])
    assert result.texts == together
    written = read_result(one, "news-2")  # the result of the one alone is another one, and stays
    assert written["ensemble_sha256"] == [load_model(two).sha256]
    assert written["checkpoint_sha256"] == load_model(one).sha256
    assert written["ensemble"] == [str(two)]
    alone = read_result(one)
    assert alone["ensemble_sha256"] is None
    assert alone["scores"] != written["scores"]
    shown = capsys.readouterr().out
    assert str(two) in shown
    assert "40 lines, ensemble of 2, beam 3" in shown
    evaluate(make_config(one), Screen())
    assert read_result(one)["ensemble"] is None


def test_an_ensemble_of_other_pieces_is_refused(make_run, make_config, separate_tokenizers):
    one, two = make_run("one"), make_run("two", tokenizers=separate_tokenizers)
    with pytest.raises(LatimerError, match="its target tokenizer is not the one of"):
        evaluate(make_config(one, ensemble=[str(two)]), Screen())
    assert not list(one.parents[1].glob("evaluation/*"))


def test_an_ensemble_is_no_average_of_weights(make_run, make_config):
    run = make_run()
    with pytest.raises(LatimerError, match=r"^ensemble: must be null with average=N"):
        make_config(run.parents[1], average=2, ensemble=[str(run)])
