"""From raw pairs to ids: clean, train the tokenizer, encode, drop what is too long."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa
from datasets import Dataset

from latimer.config.data import CleaningConfig, DataConfig
from latimer.config.tokenizer import TokenizerConfig
from latimer.data.cleaning import Counts, clean, drop_long, overlap
from latimer.data.corpus import read_split, read_test_sets
from latimer.data.encoded import IDS, EncodedPairs
from latimer.data.pairs import ROWS_AT_ONCE, texts
from latimer.data.report import describe, find_warnings
from latimer.tokenizer import Tokenizer, train_tokenizer


@dataclass(frozen=True)
class RawCorpus:
    """All splits as they were read."""

    train: Dataset
    validation: Dataset
    test_sets: dict[str, Dataset]

    @classmethod
    def read(cls, data: DataConfig) -> Self:
        """Reads every split, so that a mistake in any of them shows at once."""
        train, validation = read_split(data, "train"), read_split(data, "validation")
        return cls(train, validation, read_test_sets(data))

    @property
    def held_out(self) -> dict[str, Dataset]:
        """What is not trained on, by the names of the configuration, such as "test.flickr"."""
        tests = {f"test.{name}": pairs for name, pairs in self.test_sets.items()}
        return {"validation": self.validation, **tests}


@dataclass(frozen=True)
class Encoding:
    """A corpus as ids, what made them, and how it went."""

    train: EncodedPairs
    validation: EncodedPairs
    tokenizer: Tokenizer
    report: dict[str, Any]


def encode_corpus(
    raw: RawCorpus, cleaning: CleaningConfig, tokenizer: Tokenizer | TokenizerConfig
) -> Encoding:
    """Cleans the training split, and encodes it and the validation split.

    Args:
        raw: the splits; validation keeps all its pairs, whatever their length.
        cleaning: what to drop from the training split.
        tokenizer: a trained one, or how to train it: on both sides of what is left after cleaning.

    Raises:
        LatimerError: nothing is left of the training split, or it allows no such tokenizer.
    """
    kept, counts = clean(raw.train, cleaning, list(raw.held_out.values()))
    if isinstance(tokenizer, TokenizerConfig):
        tokenizer = train_tokenizer(_lines(kept), **tokenizer.model_dump(exclude={"file"}))
    train = encode(kept, tokenizer)
    rows = drop_long(train.source_lengths, train.target_lengths, cleaning.max_length)
    counts = counts.and_dropped("too_long", len(kept) - len(rows))
    counts.check()
    train, validation = train.select(rows), encode(raw.validation, tokenizer)
    leaks = {name: overlap(kept.select(rows), pairs) for name, pairs in raw.held_out.items()}
    report: dict[str, Any] = {
        "train": _describe_training(counts, train),
        "validation": {"read": len(validation), **describe(validation)},
        "test": {name: {"read": len(pairs)} for name, pairs in raw.test_sets.items()},
        "leaks": leaks,
    }
    report["warnings"] = find_warnings(report)
    return Encoding(train, validation, tokenizer, report)


def encode(pairs: Dataset, tokenizer: Tokenizer) -> EncodedPairs:
    """Cuts both sides of all pairs into pieces."""
    batches = []
    for rows in pairs.select_columns(["source", "target"]).iter(batch_size=ROWS_AT_ONCE):
        ids = [pa.array(tokenizer.encode_batch(rows[side]), IDS) for side in ("source", "target")]
        batches.append(pa.record_batch(ids, names=["source", "target"]))
    return EncodedPairs(pa.Table.from_batches(batches))


def _describe_training(counts: Counts, train: EncodedPairs) -> dict[str, Any]:
    dropped = {"read": counts.read, "dropped": counts.dropped, "kept": counts.kept}
    return {**dropped, **describe(train)}


def _lines(pairs: Dataset) -> Iterator[str]:
    for pair in texts(pairs):
        yield from pair
