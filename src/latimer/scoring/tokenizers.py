"""How BLEU finds the words of a language."""

import re

from sacrebleu.metrics.bleu import BLEU

from latimer.errors import LatimerError

DEFAULT_TOKENIZER = "13a"
TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
WITHOUT_SPACES = ("zh", "ja")
TWO_LETTERS = {"zho": "zh", "chi": "zh", "cmn": "zh", "jpn": "ja", "kor": "ko"}


def base_language(language: str) -> str:
    """The language of a code with script or region: "zh" of zh-CN, zho_Hans and zh."""
    code = re.split("[-_]", language.lower())[0]
    return TWO_LETTERS.get(code, code)


def has_no_spaces(language: str) -> bool:
    """Whether no spaces set the words of a language apart."""
    return base_language(language) in WITHOUT_SPACES


def require_tokenizer(target_language: str, bleu_tokenizer: str | None = None) -> str:
    """The name of sacrebleu's tokenizer for a target language, once it is known to work.

    Call it before the work whose result is to be scored.

    Args:
        target_language: a code such as "de", "zh" or "zh-CN".
        bleu_tokenizer: takes the place of the language's own tokenizer.

    Raises:
        LatimerError: there is no such tokenizer, or it needs a package that is not installed.
    """
    name = bleu_tokenizer or TOKENIZERS.get(base_language(target_language), DEFAULT_TOKENIZER)
    if name not in BLEU.TOKENIZERS:
        raise LatimerError(
            f"BLEU has no tokenizer {name!r}; there are {', '.join(sorted(BLEU.TOKENIZERS))}"
        )
    try:
        BLEU(tokenize=name)
    except (RuntimeError, ImportError, OSError) as error:
        raise LatimerError(_what_is_missing(name, target_language, error)) from error
    return name


def _what_is_missing(name: str, target_language: str, error: Exception) -> str:
    wanted = f"BLEU's tokenizer {name!r} (target language {target_language!r})"
    if name in ("ja-mecab", "ko-mecab"):
        return f'{wanted} needs more packages: pip install "sacrebleu[{name[:2]}]"'
    return f"{wanted} cannot be used: {error}"
