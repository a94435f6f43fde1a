import random

import pytest

from latimer.tokenizer import Tokenizer, train_tokenizer

NOUNS = ["boat", "door", "kettle", "tree", "house", "cat", "dog", "bird", "sea", "sun", "moon"]
WORDS = [
    *NOUNS,
    "star",
    "hand",
    "foot",
    "eye",
    "ear",
    "nose",
    "red",
    "blue",
    "green",
    "small",
    "old",
]


@pytest.fixture(scope="session")
def toy_lines() -> list[str]:
    """600 lines of 22 words."""
    dice = random.Random(7)
    return [" ".join(dice.choices(WORDS, k=dice.randint(3, 9))) for _ in range(600)]


@pytest.fixture(scope="session")
def tokenizer(toy_lines: list[str]) -> Tokenizer:
    return train_tokenizer(toy_lines, vocab_size=80)
