"""The corpus as training needs it: cleaned, cut into pieces, and kept on disk for the next run.

What is kept is found again by a key over content: all texts, the cleaning, the tokenizer. Any
change of them misses, and a file that was only renamed or touched hits.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from datasets import Dataset
from filelock import FileLock

from latimer.config.data import DataConfig
from latimer.config.tokenizer import TokenizerConfig
from latimer.data.corpus import fingerprint
from latimer.data.encoded import EncodedPairs
from latimer.data.preparation import Encoding, RawCorpus, encode_corpus
from latimer.data.report import report_rows
from latimer.errors import LatimerError
from latimer.tokenizer import Tokenizer, Tokenizers

__all__ = ["PreparedCorpus", "prepare", "report_rows"]

FORMAT = 1  # of what is kept; a change of it misses all that was kept before
KEY_DIGITS = 16
TRAIN, VALIDATION = "train.arrow", "validation.arrow"
MODEL_SUFFIX, REPORT = ".model", "report.json"


@dataclass(frozen=True)
class PreparedCorpus:
    """Everything that a training needs of its data.

    Attributes:
        train: the cleaned training split.
        validation: the whole validation split, however long its sentences are.
        validation_text: the same pairs as raw text, in the same order.
        test_sets: the raw pairs of each.
        tokenizers: what the ids were made with.
        report: plain figures for ``data.json``; :func:`latimer.data.report.report_rows` makes the
            printed table of them.
    """

    train: EncodedPairs
    validation: EncodedPairs
    validation_text: Dataset
    test_sets: dict[str, Dataset]
    tokenizers: Tokenizers
    report: dict[str, Any]


def prepare(
    data: DataConfig,
    tokenizer: TokenizerConfig,
    *,
    folder: Path,
    tokenizers: Tokenizers | None = None,
) -> PreparedCorpus:
    """Reads the data set, and cleans and encodes what wasn't before.

    Several processes may do so at once: one does the work, the others wait and read.

    Args:
        data: the data set and the cleaning.
        tokenizer: how to train the tokenizers, or the file of a trained one.
        folder: where prepared corpora are kept, each in a folder of its own.
        tokenizers: those of a checkpoint, to be used instead.

    Raises:
        LatimerError: a split can't be read, nothing is left of the training split, the
            tokenizers can't be had or have no merges to leave out, or the folder can't be written
            to.
    """
    given = tokenizers or _from_file(tokenizer.file)
    if given and tokenizer.bpe_dropout:
        _check_merges(given, tokenizer)
    raw = RawCorpus.read(data)
    settings = {
        "format": FORMAT,
        "cleaning": data.cleaning.model_dump(),
        "tokenizer": given.hashes
        if given
        else tokenizer.model_dump(exclude={"file", "bpe_dropout"}),
        "fingerprints": _fingerprints(raw),
    }
    key = sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    place = folder / key[:KEY_DIGITS]
    found = place.is_dir() or not _make(
        place, lambda: encode_corpus(raw, data.cleaning, given or tokenizer)
    )
    return _open(place, raw, {"key": key, "cache": "hit" if found else "miss", **settings})


def _from_file(file: str | None) -> Tokenizers | None:
    return Tokenizers.joint(Tokenizer.from_file(file)) if file else None


def _check_merges(given: Tokenizers, config: TokenizerConfig) -> None:
    if not all(tokenizer.has_merges for tokenizer in given):
        origin = f"tokenizer.file={config.file}" if config.file else "the checkpoint's tokenizer"
        raise LatimerError(
            f"tokenizer.bpe_dropout={config.bpe_dropout}: {origin} is no model of byte-pair "
            "encoding, and has no merges to leave out; write tokenizer.bpe_dropout=0"
        )


def _fingerprints(raw: RawCorpus) -> dict[str, str]:
    splits = {"train": raw.train, **raw.held_out}
    return {name: fingerprint(pairs) for name, pairs in splits.items()}


def _make(place: Path, encode: Callable[[], Encoding]) -> bool:
    """Makes the folder, unless another process has while this one waited for it.

    Returns:
        Whether it was this process that made it.
    """
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(place.with_suffix(".lock")):
            if place.is_dir():
                return False
            _write(encode(), place)
            return True
    except OSError as error:
        raise LatimerError(f"prepared_folder={place.parent}: {error}") from error


def _write(encoding: Encoding, place: Path) -> None:
    """Writes aside and renames, so that the folder is whole or not there."""
    aside = place.with_suffix(".partial")
    shutil.rmtree(aside, ignore_errors=True)  # of a process that was killed
    try:
        aside.mkdir()
        encoding.train.write(aside / TRAIN)
        encoding.validation.write(aside / VALIDATION)
        for name, tokenizer in encoding.tokenizers.named.items():
            (aside / f"{name}{MODEL_SUFFIX}").write_bytes(tokenizer.model_bytes)
        (aside / REPORT).write_text(json.dumps(encoding.report, indent=2), encoding="utf-8")
        aside.rename(place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _open(place: Path, raw: RawCorpus, settings: dict[str, Any]) -> PreparedCorpus:
    models = {path.stem: path.read_bytes() for path in place.glob(f"*{MODEL_SUFFIX}")}
    tokenizers = Tokenizers.from_named({name: Tokenizer(model) for name, model in models.items()})
    train, validation = (EncodedPairs.open(place / name) for name in (TRAIN, VALIDATION))
    for pairs in (train, validation):
        pairs.check_ids(**tokenizers.vocab_sizes)
    report = json.loads((place / REPORT).read_text(encoding="utf-8"))
    return PreparedCorpus(
        train=train,
        validation=validation,
        validation_text=raw.validation,
        test_sets=raw.test_sets,
        tokenizers=tokenizers,
        report={**settings, **tokenizers.vocab_sizes, **tokenizers.hashes, **report},
    )
