"""``scoring``: validation and the evaluation at the end count in the same, chosen way."""

import json
from dataclasses import replace

import pytest
from rescoring import rescored
from sacrebleu.tokenizers import tokenizer_ja_mecab

from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.training.run import train

TAGS = ("val/bleu", "val/chrf", "val/length_ratio")


def test_both_count_as_the_run_says(run, tmp_path):
    """The characters of lower-cased text: other figures than the usual ones of the same text."""
    ended = run(scoring={"bleu_tokenizer": "char", "lowercase": True})
    stored = ended.checkpoints["best"]["latimer"]["scores"]
    chosen = rescored(ended, "best", tmp_path / "chosen")
    assert stored["val/bleu"] > 0.0
    assert {tag: stored[tag] for tag in TAGS} == pytest.approx(
        {tag: chosen[tag] for tag in TAGS}, abs=1e-9
    )
    usual = ended.config.scoring.model_copy(update={"bleu_tokenizer": None, "lowercase": False})
    config = ended.config.model_copy(update={"scoring": usual})
    other = rescored(replace(ended, config=config), "best", tmp_path / "usual")
    assert all(other[tag] != chosen[tag] for tag in TAGS)
    result = json.loads((ended.folder / "evaluation/first/result.json").read_text("utf-8"))
    assert result["scoring"] == {"bootstrap": 1000, "bleu_tokenizer": "char", "lowercase": True}
    assert "case:lc" in result["scores"]["BLEU"]["signature"]
    assert "tok:char" in result["scores"]["BLEU"]["signature"]
    page = (ended.folder / "run.md").read_text(encoding="utf-8")
    assert "| test set | lines | lower-cased BLEU |" in page


def test_a_tokenizer_that_is_missing_is_found_before_the_training(
    make_config, tmp_path, monkeypatch
):
    """Field case 163."""
    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    with pytest.raises(LatimerError, match=r'pip install "sacrebleu\[ja\]"'):
        train(make_config(scoring__bleu_tokenizer="ja-mecab"), Screen())
    assert not (tmp_path / "runs").exists()
    assert not (tmp_path / "prepared").exists()
