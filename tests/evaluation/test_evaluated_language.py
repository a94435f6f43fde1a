"""An evaluation finds words as the checkpoint's target language has them."""

from types import SimpleNamespace

import pytest
from datasets import Dataset
from sacrebleu.tokenizers import tokenizer_ja_mecab, tokenizer_ko_mecab

from latimer.checkpoint import load_model, write_checkpoint
from latimer.config.decoding import stored_decoding
from latimer.errors import LatimerError
from latimer.evaluation.evaluation import Evaluation, EvaluationSettings, System
from latimer.scoring import score
from latimer.translation import Translation

HYPOTHESIS, REFERENCE = "我们明天前往公园散步。", "我们明天一起去公园散步。"


@pytest.fixture
def make_evaluation(make_contents, tmp_path):
    """An evaluation of a checkpoint that translates into a language."""

    def make(language, **settings):
        contents = make_contents()
        contents["latimer"]["target_language"] = language
        write_checkpoint(contents, tmp_path / "model.ckpt")
        loaded = load_model(tmp_path / "model.ckpt")
        decoding = stored_decoding(loaded.config["decoding"])
        asked = EvaluationSettings(decoding=decoding, bootstrap=10, device="cpu", **settings)
        return Evaluation(System("one", loaded, asked, tmp_path / "results"))

    return make


@pytest.mark.parametrize(
    ("language", "settings", "words", "bleu"),
    [
        ("zh", {}, "zh", 53.67),
        ("zh-CN", {}, "zh", 53.67),
        ("en", {}, "13a", 0.0),
        ("zh", {"bleu_tokenizer": "13a"}, "13a", 0.0),
    ],
)
def test_bleu_follows_the_target_language(make_evaluation, language, settings, words, bleu):
    # field case 111
    evaluation = make_evaluation(language, **settings)
    found = [Translation(HYPOTHESIS)]
    evaluation.translator = SimpleNamespace(
        translations=lambda _sources: found,
        settings=evaluation.translator.settings,
        max_tokens=1,
    )
    result = evaluation.result("news", Dataset.from_dict({"source": ["x"], "target": [REFERENCE]}))
    assert result.scores.bleu.score == pytest.approx(bleu, abs=0.005)
    assert f"|tok:{words}|" in result.scores.bleu.signature
    assert f"-tok {words}" in result.about["check"]
    asked = {"target_language": language, "bootstrap": 0, **settings}
    assert result.copy_bleu == score(["x"], [REFERENCE], **asked).bleu.score
    assert result.scores.ter.score == score([HYPOTHESIS], [REFERENCE], **asked).ter.score


@pytest.mark.parametrize(
    ("language", "module"), [("ja", tokenizer_ja_mecab), ("ko", tokenizer_ko_mecab)]
)
def test_a_missing_extra_is_named_before_anything_is_translated(
    make_evaluation, monkeypatch, language, module
):
    # field case 111
    monkeypatch.setattr(module, "MeCab", None)
    with pytest.raises(LatimerError, match=rf'pip install "sacrebleu\[{language}\]"'):
        make_evaluation(language)
    make_evaluation(language, bleu_tokenizer="char")
