"""What a run is trained and scored on: the data set, and how its training split is cleaned."""

from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, model_validator

from latimer.config.base import FolderName, Section

Language = Annotated[str, Field(min_length=1)]
RECORD_SUFFIXES = (".tsv", ".jsonl", ".json")
FORMS = "give source and target, or file"


class CleaningConfig(Section):
    """Which pairs are dropped from the training split; never from validation and test sets.

    Attributes:
        max_length: pieces of either side, the end of sentence included.
        max_ratio: characters of the longer side for each of the shorter.
        drop_duplicates: keep a pair once.
        drop_copies: drop pairs whose target is their source.
        drop_in_test: drop pairs that also stand in the validation or a test set.
    """

    max_length: int = Field(ge=2)
    max_ratio: float = Field(ge=1)
    drop_duplicates: bool
    drop_copies: bool
    drop_in_test: bool


class _Data(Section):
    source_language: Language
    target_language: Language
    cleaning: CleaningConfig


class BibleData(_Data):
    """The embedded corpus: Wycliffe's Bible (enm) and the World English Bible (en)."""

    format: Literal["bible"]

    @model_validator(mode="after")
    def _knows_two_languages(self) -> Self:
        if {self.source_language, self.target_language} != {"enm", "en"}:
            raise ValueError(
                "source_language and target_language must be enm and en, or en and enm"
            )
        return self


class Split(Section):
    """The files of one split: two aligned text files, or one file of records.

    All may be compressed (``.gz``). A key that is null counts as absent, and so does a split
    without any: an evaluation needs test sets alone.

    Attributes:
        source: text, one sentence a line.
        target: the translations, line by line.
        file: both sides, as ``.tsv``, ``.jsonl`` or ``.json`` (JSON Lines).
    """

    source: str | None = None
    target: str | None = None
    file: str | None = None

    @model_validator(mode="after")
    def _takes_one_form(self) -> Self:
        aligned = (self.source is not None, self.target is not None)
        if aligned not in ((True, True), (False, False)) or (any(aligned) and self.file):
            raise ValueError(FORMS)
        if self.file is not None and not self.file.removesuffix(".gz").endswith(RECORD_SUFFIXES):
            raise ValueError(
                f"file must end in {', '.join(RECORD_SUFFIXES)}, or in one of them and .gz"
            )
        return self

    @property
    def paths(self) -> dict[str, str]:
        """The paths that are given, by key."""
        return {key: path for key, path in self if path is not None}


class GivenSplit(Split):
    """A split that must be there."""

    @model_validator(mode="after")
    def _is_given(self) -> Self:
        if not self.paths:
            raise ValueError(FORMS)
        return self


class FilesData(_Data):
    """The user's own files."""

    format: Literal["files"]
    train: Split
    validation: Split
    test: dict[FolderName, GivenSplit]


class TrainingFilesData(FilesData):
    """Files that are to be trained on, and not only to be scored."""

    train: GivenSplit
    validation: GivenSplit


class HubData(_Data):
    """A data set on the Hugging Face Hub, or in a local folder laid out like one.

    Attributes:
        path: the name on the Hub ("owner/name"), or the folder.
        configuration: the data set's own subset, such as "de-en"; null if it has none.
        revision: the commit to read, 40 hexadecimal digits; null for the newest.
        train: the split that is trained on, by its name there.
        validation: likewise.
        test: the splits that are scored, each by the name it has in the results.
    """

    format: Literal["hub"]
    path: str = Field(min_length=1)
    configuration: str | None
    revision: str | None
    train: str
    validation: str
    test: dict[FolderName, str]


DataConfig = Annotated[BibleData | FilesData | HubData, Field(discriminator="format")]
TrainingDataConfig = Annotated[
    BibleData | TrainingFilesData | HubData, Field(discriminator="format")
]
AnyData = TypeVar("AnyData", bound=BibleData | FilesData | HubData)
AnySplit = TypeVar("AnySplit", bound=Split)


def resolve_paths(data: AnyData, folder: Path) -> AnyData:
    """Makes the paths absolute that were written relative to ``folder``.

    A Hub name is left as it is, unless it names a folder that exists.
    """
    if isinstance(data, HubData) and (folder / Path(data.path).expanduser()).is_dir():
        return data.model_copy(update={"path": _absolute(data.path, folder)})
    if isinstance(data, FilesData):
        splits = {
            "train": _resolve_split(data.train, folder),
            "validation": _resolve_split(data.validation, folder),
            "test": {name: _resolve_split(split, folder) for name, split in data.test.items()},
        }
        return data.model_copy(update=splits)
    return data


def _resolve_split(split: AnySplit, folder: Path) -> AnySplit:
    return type(split)(**{key: _absolute(path, folder) for key, path in split.paths.items()})


def _absolute(path: str, folder: Path) -> str:
    return str((folder / Path(path).expanduser()).absolute())
