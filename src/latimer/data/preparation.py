"""From raw pairs to ids: clean, train the tokenizers, encode, drop what is too long."""

from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, Self

import pyarrow as pa
from datasets import Dataset

from latimer.config.data import CleaningConfig, DataConfig
from latimer.config.tokenizer import TokenizerConfig
from latimer.data.cleaning import Counts, clean, drop_long, overlaps
from latimer.data.corpus import read_split, read_test_sets
from latimer.data.encoded import IDS, EncodedPairs
from latimer.data.pairs import ROWS_AT_ONCE, subset, texts
from latimer.data.report import describe, find_warnings
from latimer.errors import LatimerError
from latimer.tokenizer import Tokenizer, Tokenizers, train_tokenizer

SIDES = ["source", "target"]


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
    tokenizers: Tokenizers
    report: dict[str, Any]


def encode_corpus(
    raw: RawCorpus, cleaning: CleaningConfig, tokenizers: Tokenizers | TokenizerConfig
) -> Encoding:
    """Cleans the training split, and encodes it and the validation split.

    Args:
        raw: the splits; validation keeps all its pairs, whatever their length.
        cleaning: what to drop from the training split.
        tokenizers: trained ones, or how to train them: on what is left after cleaning.

    Raises:
        LatimerError: nothing is left of the training split, or it allows no such tokenizer.
    """
    kept, counts = clean(raw.train, cleaning, list(raw.held_out.values()))
    if isinstance(tokenizers, TokenizerConfig):
        tokenizers = train_tokenizers(kept, tokenizers)
    train = encode(kept, tokenizers)
    rows = drop_long(train.source_lengths, train.target_lengths, cleaning.max_length)
    counts = counts.and_dropped("too_long", len(kept) - len(rows))
    counts.check()
    train, validation = train.select(rows), encode(raw.validation, tokenizers)
    report: dict[str, Any] = {
        "train": _describe_training(counts, train),
        "validation": {"read": len(validation), **describe(validation)},
        "test": {name: {"read": len(pairs)} for name, pairs in raw.test_sets.items()},
        "leaks": overlaps(subset(kept, rows), raw.held_out),
    }
    report["warnings"] = find_warnings(report)
    return Encoding(train, validation, tokenizers, report)


def train_tokenizers(pairs: Dataset, config: TokenizerConfig) -> Tokenizers:
    """Trains one tokenizer on both sides of all pairs, or one on each side.

    Raises:
        LatimerError: the text allows no such tokenizer.
    """
    settings = config.model_dump(exclude={"vocabulary", "file", "bpe_dropout"})
    if config.vocabulary == "joint":
        return Tokenizers.joint(train_tokenizer(chain.from_iterable(texts(pairs)), **settings))
    return Tokenizers(*(_train_on_side(side, pairs, settings) for side in SIDES))


def _train_on_side(side: str, pairs: Dataset, settings: dict[str, Any]) -> Tokenizer:
    lines = map(itemgetter(SIDES.index(side)), texts(pairs))
    try:
        return train_tokenizer(lines, **settings)
    except LatimerError as error:
        raise LatimerError(f"{error} (the {side} side)") from error


def encode(pairs: Dataset, tokenizers: Tokenizers) -> EncodedPairs:
    """Cuts each side of all pairs into its pieces."""
    batches = []
    for rows in pairs.select_columns(SIDES).iter(batch_size=ROWS_AT_ONCE):
        ids = [
            pa.array(tokenizer.encode_batch(rows[side]), IDS)
            for side, tokenizer in zip(SIDES, tokenizers, strict=True)
        ]
        batches.append(pa.record_batch(ids, names=SIDES))
    return EncodedPairs(pa.Table.from_batches(batches))


def _describe_training(counts: Counts, train: EncodedPairs) -> dict[str, Any]:
    dropped = {"read": counts.read, "dropped": counts.dropped, "kept": counts.kept}
    return {**dropped, **describe(train)}
