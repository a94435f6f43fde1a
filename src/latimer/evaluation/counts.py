"""Which lines of a translated test set a reader should know about."""

import re
from collections.abc import Iterable, Sequence

from latimer.tokenizer import UNK_ID, Tokenizer
from latimer.translation import Translation

UNKNOWN_MARK = "\N{DOUBLE QUESTION MARK}"
"""What SentencePiece writes for an unknown piece."""
LONGEST_REPEATED = 4
TIMES = 3
KANA_AND_HAN = "\u3040-\u30ff\u3400-\u9fff"
WORD = re.compile(f"[{KANA_AND_HAN}]|[^\\W{KANA_AND_HAN}]+")
"""A run of letters and digits; a single character where no spaces set words apart."""


def count_lines(
    sources: Sequence[str],
    references: Sequence[str],
    translations: Sequence[Translation],
) -> dict[str, int]:
    """How many lines there are of each kind that is worth a look; the kinds may overlap."""
    lines = list(zip(sources, references, translations, strict=True))
    return {
        "blank_sources": sum(not t.hypotheses for _, _, t in lines),
        "empty_translations": sum(bool(t.hypotheses) and not t.text.strip() for _, _, t in lines),
        "ended_by_the_length_limit": sum(
            not t.hypotheses[0].finished for _, _, t in lines if t.hypotheses
        ),
        "copies_of_the_source": sum(t.text == s.strip() != "" for s, _, t in lines),
        "repetitions": sum(
            repeats_itself(t.text) and not any(map(repeats_itself, (s, r))) for s, r, t in lines
        ),
        "translations_with_unknown_marks": sum(
            UNKNOWN_MARK in t.text and UNKNOWN_MARK not in s + r for s, r, t in lines
        ),
        "cut_sources": sum(t.cut for _, _, t in lines),
    }


def repeats_itself(text: str) -> bool:
    """Whether the same one to four words stand at least three times in a row.

    Case and punctuation do not count. In Chinese and Japanese a character is a word; in other
    languages that write no spaces only what spaces or punctuation set apart can be seen to repeat.
    """
    words = WORD.findall(text.casefold())
    return any(_repeats(words, length) for length in range(1, LONGEST_REPEATED + 1))


def _repeats(words: Sequence[str], length: int) -> bool:
    """Whether ``length`` words stand three times in a row."""
    same = 0
    for word, before in zip(words[length:], words, strict=False):
        same = same + 1 if word == before else 0
        if same == length * (TIMES - 1):
            return True
    return False


def count_unknown(sources: Iterable[str], tokenizer: Tokenizer) -> int:
    """How many sources have characters that no piece of the tokenizer spells.

    The model reads one and the same unknown piece for all of them. It never writes one: the search
    forbids it.
    """
    encoded = tokenizer.encode_batch([source for source in sources if source.strip()])
    return sum(UNK_ID in ids for ids in encoded)
