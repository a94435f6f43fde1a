"""Every kind of data set, read into one kind of table.

A split is a ``datasets.Dataset`` of pairs with the columns ``source`` and ``target`` (raw text,
one line each), ``file`` and ``line`` (where the pair comes from; lines count from 1).
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Literal

from datasets import Dataset

from latimer.config.data import BibleData, DataConfig, FilesData, HubData, Split
from latimer.data.hub import read_hub
from latimer.data.json_lines import read_json_lines
from latimer.data.pairs import Pair, dataset_of, texts
from latimer.data.text_files import read_aligned
from latimer.data.tsv import read_tsv
from latimer.errors import LatimerError

SplitName = Literal["train", "validation", "test"]


def read_split(data: DataConfig, split: SplitName, name: str | None = None) -> Dataset:
    """Reads one split, as it is: nothing is cleaned, sorted or dropped.

    Args:
        data: the data set.
        split: which part of it.
        name: which test set; needed when there are several.

    Raises:
        LatimerError: a file is missing or malformed, or the split has no pairs.
    """
    key = f"data.{split}"
    if split == "test":
        name = _test_set(data, name)
        key = f"data.test.{name}"
    match data:
        case BibleData():
            # Its packages take half a second to import.
            from latimer.data.bible import read_bible  # noqa: PLC0415

            pairs = read_bible(data, split)
        case FilesData():
            files = data.test[name] if name else getattr(data, split)
            pairs = dataset_of(_read_files(data, files, key))
        case HubData():
            pairs = read_hub(data, data.test[name] if name else getattr(data, split))
    if len(pairs) == 0:
        raise LatimerError(f"{key}: there are no pairs in it; at least one is needed")
    return pairs


def read_test_sets(data: DataConfig) -> dict[str, Dataset]:
    """Reads all the named test sets, in the order of the configuration."""
    return {name: read_split(data, "test", name) for name in test_set_names(data)}


def test_set_names(data: DataConfig) -> list[str]:
    """The names of the test sets; the embedded corpus has one, "test"."""
    return ["test"] if isinstance(data, BibleData) else list(data.test)


def fingerprint(pairs: Dataset) -> str:
    """SHA-256 over the texts in their order, as 64 hexadecimal digits.

    Where a pair comes from does not count: a renamed file has the same fingerprint.
    """
    digest = sha256()
    for source, target in texts(pairs):
        digest.update(f"{source}\n{target}\n".encode())
    return digest.hexdigest()


def _test_set(data: DataConfig, name: str | None) -> str:
    names = test_set_names(data)
    if name is None and len(names) == 1:
        return names[0]
    if name not in names:
        asked = "which test set?" if name is None else f"there is no test set {name!r};"
        raise LatimerError(f"data.test: {asked} there are: {', '.join(names) or 'none'}")
    return name


def _read_files(data: FilesData, files: Split, key: str) -> Iterator[Pair]:
    for form, path in files.paths.items():
        if not Path(path).is_file():
            raise LatimerError(
                f"{key}.{form}={path}: there is no such file. "
                "Write a path relative to the folder you start in, or an absolute one."
            )
    if files.file is None:
        return read_aligned(str(files.source), str(files.target))
    if files.file.removesuffix(".gz").endswith(".tsv"):
        return read_tsv(files.file)
    return read_json_lines(
        files.file, source_language=data.source_language, target_language=data.target_language
    )
