"""Every key of the beam search reaches the search of an evaluation, of old checkpoints too."""

import json

import pytest

from latimer.decoding import SearchSettings
from latimer.evaluation import evaluate
from latimer.screen import Screen
from latimer.translation import Translator


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"length_penalty": "average"},
        {"coverage_penalty": 0.8},
        {"no_repeat_ngram": 1},
        {"beam_size": 4, "beam_groups": 2, "diversity_penalty": 1.5},
    ],
    ids=str,
)
def test_a_checkpoint_that_was_made_before_the_keys_were(
    make_run, make_config, news_lines, changes, capsys
):
    run = make_run()
    [result] = evaluate(make_config(run, changes), Screen())
    settings = SearchSettings(**{"beam_size": 3, "max_length_offset": 4, **changes})
    translator = Translator.from_checkpoint(run, settings, device="cpu")
    assert result.translations == translator.translations(news_lines[0])
    plain = Translator.from_checkpoint(run, device="cpu").translations(news_lines[0])
    assert (result.translations == plain) is not bool(changes)
    path = run.parents[1] / "evaluation" / "news" / "result.json"
    written = json.loads(path.read_text(encoding="utf-8"))["decoding"]
    assert written == {**written, **changes}
    assert f"lines, {settings.described}, float32 on cpu" in capsys.readouterr().out
