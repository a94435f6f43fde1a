"""BLEU's words follow the target language."""

import pytest
from sacrebleu.tokenizers import tokenizer_ja_mecab, tokenizer_ko_mecab

from latimer.errors import LatimerError
from latimer.scoring import require_tokenizer, score

CHINESE = ["我们明天前往公园散步。"], ["我们明天一起去公园散步。"]


@pytest.mark.parametrize(
    ("language", "tokenizer"),
    [
        ("en", "13a"),
        ("de", "13a"),
        ("enm", "13a"),
        ("zh", "zh"),
        ("zh-CN", "zh"),
        ("zho_Hans", "zh"),
    ],
)
def test_the_language_names_its_tokenizer(language, tokenizer):
    assert require_tokenizer(language) == tokenizer


def test_chinese_is_scored_by_characters():
    # field case 111
    scores = score(*CHINESE, target_language="zh", bootstrap=0)
    assert scores.bleu.score == pytest.approx(53.67, abs=0.005)
    assert "tok:zh" in scores.bleu.signature
    # A line without spaces is one word to TER unless characters are told apart: 3 edits of 12.
    assert scores.ter.score == pytest.approx(25.0)
    assert "asian:yes" in scores.ter.signature


def test_the_tokenizer_can_be_chosen():
    scores = score(*CHINESE, target_language="zh", bootstrap=0, bleu_tokenizer="13a")
    assert scores.bleu.score == 0.0
    assert "tok:13a" in scores.bleu.signature


@pytest.mark.parametrize(
    ("language", "module"), [("ja", tokenizer_ja_mecab), ("ko", tokenizer_ko_mecab)]
)
def test_a_missing_extra_is_named(language, module, monkeypatch):
    # field case 111
    monkeypatch.setattr(module, "MeCab", None)
    for call in (
        lambda: require_tokenizer(language),
        lambda: score(["a"], ["a"], target_language=language),
    ):
        with pytest.raises(LatimerError) as caught:
            call()
        assert f'pip install "sacrebleu[{language}]"' in str(caught.value)
        assert f"{language}-mecab" in str(caught.value)


def test_an_unknown_tokenizer_is_refused_with_those_there_are():
    with pytest.raises(LatimerError) as caught:
        require_tokenizer("en", "13b")
    assert "'13b'" in str(caught.value)
    assert "13a" in str(caught.value)
