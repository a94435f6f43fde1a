"""A BLEU of another kind than the usual one says so wherever it is shown."""

import pytest

from latimer.evaluation.labels import bleu_name, label_notes
from latimer.scoring import score

KINDS = {
    (None, False): "BLEU",
    (None, True): "lower-cased BLEU",
    ("none", False): "tokenised BLEU",
    ("none", True): "lower-cased, tokenised BLEU",
    ("char", False): "BLEU",
}


@pytest.mark.parametrize(("kind", "name"), KINDS.items(), ids=str)
def test_the_name_says_what_few_figures_compare_with(kind, name):
    # field case 104
    bleu_tokenizer, lowercase = kind
    line = ["the red boat ."]
    bleu = score(
        line, line, target_language="en", bleu_tokenizer=bleu_tokenizer, lowercase=lowercase
    ).bleu
    assert bleu_name(bleu) == name
    notes = " ".join(label_notes(bleu))
    assert ("lowercase=true" in notes) is lowercase
    assert ("bleu_tokenizer=none" in notes) is (bleu_tokenizer == "none")
