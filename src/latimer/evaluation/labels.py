"""Names that say which BLEU a figure is, for those that few other figures can be compared with."""

from latimer.scoring import Metric

IGNORES_CASE = (
    "lower-cased: all scores ignore case (lowercase=true); compare them only with others that do"
)
TOKENISED_BY_OTHERS = (
    "tokenised: BLEU takes what stands between spaces for words, in translations and references as "
    "they are (bleu_tokenizer=none); compare it only with figures of text that was tokenised in "
    "the same way"
)


def bleu_name(bleu: Metric) -> str:
    """``BLEU``, with what makes it another measure than the one that is usually meant."""
    kinds = ["lower-cased"] * _ignores_case(bleu) + ["tokenised"] * _is_tokenised(bleu)
    return " ".join([", ".join(kinds), bleu.name]).lstrip()


def label_notes(bleu: Metric) -> list[str]:
    """What such a figure may be compared with; nothing about the usual one."""
    return [IGNORES_CASE] * _ignores_case(bleu) + [TOKENISED_BY_OTHERS] * _is_tokenised(bleu)


def _ignores_case(bleu: Metric) -> bool:
    return "case:lc" in bleu.signature.split("|")


def _is_tokenised(bleu: Metric) -> bool:
    return "tok:none" in bleu.signature.split("|")
