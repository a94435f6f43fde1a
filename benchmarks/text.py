"""Synthetic pairs of sentences with the lengths of Multi30k; the same ones for the same seed."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LOG_SOURCE_WORDS = (2.428, 0.310)
"""Mean and standard deviation of ln(words) in the 29,000 English sentences of the training split:
11.9 words on average."""
LOG_TARGET_RATIO = (-0.077, 0.174)
"""Likewise of ln(German words / English words) in a pair: 11.1 German words on average."""
MOST_WORDS = 40
SOURCE_TYPES, TARGET_TYPES = 10_000, 18_000
PAIRS_AT_ONCE = 10_000
SYLLABLES = [consonant + vowel for consonant in "bdfghklmnprstvwz" for vowel in "aeiou"]
MOST_SYLLABLES = 4
SIDES = ("en", "de")


def lengths(pairs: int, dice: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The words of each source and each target."""
    source = dice.lognormal(*LOG_SOURCE_WORDS, pairs)
    target = source * dice.lognormal(*LOG_TARGET_RATIO, pairs)
    rounded = (side.round().astype(np.int64).clip(1, MOST_WORDS) for side in (source, target))
    return next(rounded), next(rounded)


def lexicon(types: int, dice: np.random.Generator) -> NDArray[np.str_]:
    """Different words of syllables, the most frequent first; the frequent ones are short."""
    words: dict[str, None] = {}
    while len(words) < types:
        ranks = len(words) + np.arange(types)
        counts = 1 + dice.binomial(MOST_SYLLABLES - 1, (0.2 + ranks / 10_000).clip(max=0.9))
        drawn = dice.choice(SYLLABLES, (types, MOST_SYLLABLES)).tolist()
        made = ("".join(row[:count]) for row, count in zip(drawn, counts, strict=True))
        words.update(dict.fromkeys(made))
    return np.array(list(words)[:types])


def draw(words: NDArray[np.str_], count: int, dice: np.random.Generator) -> NDArray[np.str_]:
    """Words as frequent as their rank lets them be (Zipf's law)."""
    shares = np.arange(3.0, len(words) + 3.0) ** -1.1
    return words[np.searchsorted(shares.cumsum() / shares.sum(), dice.random(count))]


def sentence_pairs(seed: int) -> Iterator[tuple[str, str]]:
    """Yields pairs without end; a target has nothing to do with its source but the length."""
    dice = np.random.default_rng(seed)
    lexicons = [lexicon(types, dice) for types in (SOURCE_TYPES, TARGET_TYPES)]
    while True:
        sides = [
            _sentences(words, counts, dice)
            for words, counts in zip(lexicons, lengths(PAIRS_AT_ONCE, dice), strict=True)
        ]
        yield from zip(*sides, strict=True)


def _sentences(
    words: NDArray[np.str_], counts: NDArray[np.int64], dice: np.random.Generator
) -> list[str]:
    ends = counts.cumsum()
    drawn = draw(words, int(ends[-1]), dice)
    return [" ".join(part) + "." for part in np.split(drawn, ends[:-1])]


def write_pairs(folder: Path, split: str, pairs: Iterator[tuple[str, str]], count: int) -> None:
    """Writes the next pairs into two aligned files, ``<split>.en`` and ``<split>.de``."""
    source, target = (folder / f"{split}.{side}" for side in SIDES)
    with (
        source.open("w", encoding="utf-8", newline="\n") as sources,
        target.open("w", encoding="utf-8", newline="\n") as targets,
    ):
        for one, other in islice(pairs, count):
            sources.write(one + "\n")
            targets.write(other + "\n")
