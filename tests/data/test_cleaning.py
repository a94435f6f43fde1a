import numpy as np
import pytest
from datasets import Dataset

from latimer.config.data import CleaningConfig
from latimer.data.cleaning import Counts, clean, drop_long, overlaps
from latimer.data.pairs import Pair, dataset_of, texts
from latimer.errors import LatimerError

NOTHING = CleaningConfig(
    max_length=128, max_ratio=1000, drop_duplicates=False, drop_copies=False, drop_in_test=False
)
ALL = CleaningConfig(
    max_length=128, max_ratio=4, drop_duplicates=True, drop_copies=True, drop_in_test=True
)


def pairs_of(*pairs: tuple[str, str]) -> Dataset:
    return dataset_of(Pair(*pair, "f", line) for line, pair in enumerate(pairs, start=1))


def test_a_pair_goes_when_either_side_is_blank() -> None:  # field case 4
    pairs, counts = clean(pairs_of(("a b", "A B"), (" \u3000", "X"), ("c d", "C D")), NOTHING, [])
    assert list(texts(pairs)) == [("a b", "A B"), ("c d", "C D")]
    assert pairs["line"][:] == [1, 3]
    assert counts.summary() == "kept 2 of 3 (blank 1)"


def test_every_reason_is_counted_once() -> None:
    pairs = pairs_of(
        ("red boat", "rotes Boot"),
        ("", ""),  # blank, though also a copy
        ("Paris", " Paris "),
        ("no", "neunundneunzig"),
        ("red boat", "rotes Boot "),
        ("red boat", "Boot, rotes"),
        ("blue door", "blaue Tür"),
    )
    held_out = [pairs_of(("other", "andere")), pairs_of(("blue door", "blaue Tür"))]
    kept, counts = clean(pairs, ALL, held_out)
    assert counts.as_dict() == {
        "read": 7,
        "blank": 1,
        "copy": 1,
        "ratio": 1,
        "duplicate": 1,
        "in_test": 1,
        "too_long": 0,
        "kept": 2,
    }
    assert list(texts(kept)) == [("red boat", "rotes Boot"), ("red boat", "Boot, rotes")]
    assert len(clean(pairs, NOTHING, held_out)[0]) == 6


def test_the_ratio_is_of_characters_and_its_limit_is_allowed() -> None:
    settings = NOTHING.model_copy(update={"max_ratio": 2.0})
    kept, _ = clean(pairs_of(("ab", "abcd"), ("abcd", "ab"), ("ab", "abcde")), settings, [])
    assert len(kept) == 2


def test_only_a_whole_pair_counts_as_in_test() -> None:
    held_out = [pairs_of(("blue door", "blaue Tür"))]
    kept, _ = clean(pairs_of(("blue door", "Tür, blaue"), ("door", "blaue Tür")), ALL, held_out)
    assert len(kept) == 2


def test_length_counts_the_end_of_sentence() -> None:
    source, target = np.array([3, 4, 5, 0, 4]), np.array([4, 5, 1, 0, 4])
    assert drop_long(source, target, max_length=5).tolist() == [0, 3, 4]


def test_the_table_adds_up() -> None:  # field case 20
    counts = Counts(10, dict.fromkeys(("blank", "too_long"), 0)).and_dropped("too_long", 4)
    assert counts.summary() == "kept 6 of 10 (too long 4)"
    assert counts.as_rows() == [
        ("read", "10", "100.0%"),
        ("blank", "0", "0.0%"),
        ("too long", "4", "40.0%"),
        ("kept", "6", "60.0%"),
    ]
    figures = counts.as_dict()
    assert figures.pop("read") == sum(figures.values())


def test_more_than_a_tenth_is_worth_a_warning() -> None:  # field case 20
    assert Counts(10, {"blank": 1}).warning() is None
    assert "kept 8 of 10 (blank 2)" in str(Counts(10, {"blank": 2}).warning())


def test_nothing_left_is_an_error() -> None:  # field cases 20 and 22
    with pytest.raises(LatimerError, match=r"kept 0 of 2 \(blank 1, copy 1\)"):
        clean(pairs_of(("", "a"), ("b", "b")), ALL, [])


def test_overlaps_are_counted_for_each_held_out_set() -> None:
    training = pairs_of(("a", "A"), ("b", "B"), ("b", "B"), ("c", "C"))
    held_out = pairs_of(("a", "A"), ("a ", "A"), ("b", "X"), ("y", "C"), ("z", "Z"))
    found = overlaps(training, {"validation": held_out, "test.other": pairs_of(("A", "a"))})
    assert found["validation"] == {"pairs": 2, "sources": 3, "targets": 3}
    assert found["test.other"] == {"pairs": 0, "sources": 0, "targets": 0}
