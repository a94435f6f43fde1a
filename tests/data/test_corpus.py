import gzip
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import TypeAdapter, ValidationError

from latimer.config.data import (
    CleaningConfig,
    DataConfig,
    FilesData,
    GivenSplit,
    HubData,
    resolve_paths,
)
from latimer.data.corpus import fingerprint, read_split, read_test_sets
from latimer.data.pairs import Pair, dataset_of
from latimer.errors import LatimerError

CLEANING = CleaningConfig(
    max_length=128, max_ratio=4, drop_duplicates=True, drop_copies=True, drop_in_test=True
)
CONF = Path(__file__).parents[2] / "conf"


def files(train: GivenSplit, validation: GivenSplit | None = None, **test: GivenSplit) -> FilesData:
    return FilesData(
        format="files",
        source_language="en",
        target_language="de",
        cleaning=CLEANING,
        train=train,
        validation=validation or train,
        test=test,
    )


def composed(*overrides: str) -> dict[str, Any]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = OmegaConf.to_container(compose(None, list(overrides)))
    assert isinstance(config, dict)
    return config["data"]


def checked(raw: dict[str, Any]) -> DataConfig:
    return TypeAdapter(DataConfig).validate_python(raw)


def write(folder: Path, name: str, text: str) -> str:
    data = text.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(folder / name)


def test_every_form_gives_the_same_pairs(tmp_path: Path) -> None:  # field case 13
    record = '{"en": "red", "de": "rot"}\n{"en": "blue", "de": "blau"}\n'
    splits = []
    for end in ("", ".gz"):
        source = write(tmp_path, f"a.en{end}", "red\nblue\n")
        target = write(tmp_path, f"a.de{end}", "rot\r\nblau\r\n")
        splits += [
            GivenSplit(source=source, target=target),
            GivenSplit(file=write(tmp_path, f"a.tsv{end}", "red\trot\nblue\tblau\n")),
            GivenSplit(file=write(tmp_path, f"a.jsonl{end}", record)),
            GivenSplit(file=write(tmp_path, f"a.json{end}", record)),
        ]
    for split in splits:
        pairs = read_split(files(split), "train")
        assert pairs["source"][:] == ["red", "blue"]
        assert pairs["target"][:] == ["rot", "blau"]
        assert pairs["file"][:] == [split.file or split.source] * 2
        assert pairs["line"][:] == [1, 2]


def test_reading_leaves_pairs_as_they_are(tmp_path: Path) -> None:  # field cases 4 and 21
    split = GivenSplit(file=write(tmp_path, "a.tsv", "a\tA\n\tX\na\tA\nc  d \tC\n"))
    assert read_split(files(split), "validation")["source"][:] == ["a", "", "a", "c  d "]


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:  # field case 16
    data = files(GivenSplit(file=write(tmp_path, "a.tsv", "a\tA\n")))
    before = fingerprint(read_split(data, "train"))
    write(tmp_path, "a.tsv", "a\tB\n")
    assert fingerprint(read_split(data, "train")) != before


def test_test_sets_keep_names_and_order(tmp_path: Path) -> None:
    split = GivenSplit(file=write(tmp_path, "a.tsv", "a\tA\n"))
    assert list(read_test_sets(files(split, zebra=split, ape=split))) == ["zebra", "ape"]
    assert read_test_sets(files(split)) == {}
    assert len(read_split(files(split, only=split), "test")) == 1
    with pytest.raises(LatimerError, match=r"which test set.*zebra, ape"):
        read_split(files(split, zebra=split, ape=split), "test")
    with pytest.raises(LatimerError, match="no test set 'cat'; there are: zebra"):
        read_split(files(split, zebra=split), "test", "cat")


def test_a_missing_file_is_named_with_its_key(tmp_path: Path) -> None:
    split = GivenSplit(source=write(tmp_path, "a.en", "a\n"), target=str(tmp_path / "a.de"))
    with pytest.raises(LatimerError, match=r"data\.train\.target=.*a\.de: there is no such file"):
        read_split(files(split), "train")
    with pytest.raises(LatimerError, match=r"data\.test\.mine\.target="):
        read_test_sets(files(split, mine=split))


def test_an_empty_split_is_named(tmp_path: Path) -> None:  # field case 22
    one, none = (
        GivenSplit(file=write(tmp_path, name, text))
        for name, text in [("a.tsv", "a\tA\n"), ("b.tsv", "")]
    )
    assert len(read_split(files(one), "train")) == 1
    with pytest.raises(LatimerError, match=r"data\.train: there are no pairs"):
        read_split(files(none), "train")
    with pytest.raises(LatimerError, match=r"data\.test\.mine: there are no pairs"):
        read_test_sets(files(one, mine=none))


def test_the_fingerprint_is_over_the_texts_and_their_order() -> None:
    pairs = [Pair("a", "b", "f", 1), Pair("c", "d", "f", 2)]
    known = sha256(b"a\nb\nc\nd\n").hexdigest()
    assert fingerprint(dataset_of(pairs)) == known
    assert fingerprint(dataset_of(pair._replace(file="g", line=9) for pair in pairs)) == known
    assert fingerprint(dataset_of(reversed(pairs))) != known
    assert fingerprint(dataset_of([Pair("a", "b\nc", "f", 1)])) != fingerprint(
        dataset_of(pairs[:1])
    )


@pytest.mark.parametrize("name", ["bible", "multi30k", "wmt14_en_de", "wmt14_en_fr"])
def test_shipped_data_sets_are_complete(name: str) -> None:
    assert checked(composed(f"+data={name}")).format in ("bible", "hub")


def test_files_from_the_command_line(tmp_path: Path) -> None:
    data = checked(
        composed(
            "+data=files",
            "data.source_language=en",
            "data.target_language=de",
            "data.train.source=a.en",
            "data.train.target=a.de",
            "data.validation.file=a.jsonl.gz",
            "+data.test.mine.source=/b.en",
            "+data.test.mine.target='~/b.de'",
        )
    )
    resolved = resolve_paths(data, tmp_path)
    assert isinstance(resolved, FilesData)
    assert resolved.train.paths == {"source": f"{tmp_path}/a.en", "target": f"{tmp_path}/a.de"}
    assert resolved.validation.paths == {"file": f"{tmp_path}/a.jsonl.gz"}
    assert resolved.test["mine"].paths == {"source": "/b.en", "target": str(Path.home() / "b.de")}


def test_a_hub_path_is_resolved_only_when_it_is_a_folder(tmp_path: Path) -> None:
    data = checked(composed("+data=wmt14_en_de"))
    assert resolve_paths(data, tmp_path) == data
    (tmp_path / "wmt" / "wmt14").mkdir(parents=True)
    resolved = resolve_paths(data, tmp_path)
    assert isinstance(resolved, HubData)
    assert resolved.path == f"{tmp_path}/wmt/wmt14"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("data.train.source=null", "give source and target, or file"),
        ("data.train.file=a.tsv", "give source and target, or file"),
        ("data.validation.file=a.csv", r"file must end in \.tsv, \.jsonl, \.json"),
        ("+data.test={a/b: {file: a.tsv}}", "is a folder's name"),
        ("data.source_language=''", "at least 1 character"),
        ("data.cleaning.max_length=0", "greater than or equal to 2"),
        ("data.cleaning.drop_copies='no'", "valid boolean"),
        ("+data.sauce=1", "Extra inputs"),
    ],
)
def test_mistakes_in_the_configuration(override: str, message: str) -> None:
    languages = ("data.source_language=en", "data.target_language=de")
    train = ("data.train.source=a.en", "data.train.target=a.de")
    with pytest.raises(ValidationError, match=message):
        checked(composed("+data=files", *languages, *train, "data.validation.file=v.tsv", override))


def test_the_bible_knows_two_languages() -> None:
    with pytest.raises(ValidationError, match="must be enm and en"):
        checked(composed("+data=bible", "data.source_language=fr"))
