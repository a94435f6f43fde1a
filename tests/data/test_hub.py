import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import datasets
import pytest

from latimer.config.data import CleaningConfig, HubData
from latimer.data.hub import read_hub
from latimer.errors import LatimerError

CLEANING = CleaningConfig(
    max_length=128, max_ratio=4, drop_duplicates=True, drop_copies=True, drop_in_test=True
)


@pytest.fixture(autouse=True)
def _own_cache_and_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr("socket.socket.connect", refuse)


def hub(path: Path | str, **changes: Any) -> HubData:
    keys: dict[str, Any] = {
        "format": "hub",
        "source_language": "en",
        "target_language": "de",
        "cleaning": CLEANING,
        "path": str(path),
        "configuration": None,
        "revision": None,
        "train": "train",
        "validation": "validation",
        "test": {},
    }
    return HubData(**keys | changes)


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    """A folder like that of wmt/wmt14: a README that names the files, Parquet, nested texts."""
    folder = tmp_path / "wmt14"
    (folder / "de-en").mkdir(parents=True)
    (folder / "README.md").write_text(
        "---\nconfigs:\n- config_name: de-en\n  data_files:\n"
        "  - split: train\n    path: de-en/train-*\n  - split: test\n    path: de-en/test-*\n---\n",
        encoding="utf-8",
    )
    features = datasets.Features({"translation": datasets.Translation(languages=["de", "en"])})
    for split, rows in (("train", ["rot", "blaue\nTür", ""]), ("test", ["Käse\u2028\r\nja"])):
        texts = [{"de": text, "en": f"{text}!"} for text in rows]
        table = datasets.Dataset.from_dict({"translation": texts}, features=features)
        table.to_parquet(folder / "de-en" / f"{split}-00000-of-00001.parquet")
    return folder


def test_nested_parquet(nested: Path) -> None:  # field case 15: no socket
    pairs = read_hub(hub(nested, configuration="de-en"), "train")
    assert pairs[:] == {
        "source": ["rot!", "blaue Tür!", "!"],
        "target": ["rot", "blaue Tür", ""],
        "file": [f"{nested} de-en train"] * 3,
        "line": [1, 2, 3],
    }
    (pair,) = read_hub(hub(nested, configuration="de-en"), "test")
    assert pair["target"] == "Käse\u2028 ja"


def test_flat_json_lines(tmp_path: Path) -> None:
    folder = tmp_path / "multi30k"
    folder.mkdir()
    (folder / "train.jsonl").write_text('{"en": "red", "de": "rot"}\n' * 2, encoding="utf-8")
    (folder / "test.jsonl").write_text('{"en": "blue", "de": "blau"}\n', encoding="utf-8")
    assert read_hub(hub(folder), "train")["target"][:] == ["rot", "rot"]
    assert read_hub(hub(folder), "test")["source"][:] == ["blue"]


@pytest.mark.parametrize(
    ("changes", "split", "message"),
    [
        ({"target_language": "fr"}, "train", "no language 'fr'; it has de, en"),
        ({}, "nowhere", "nowhere"),
        ({"configuration": "fr-en"}, "train", "fr-en"),
    ],
)
def test_what_the_data_set_lacks(
    nested: Path, changes: dict[str, Any], split: str, message: str
) -> None:
    with pytest.raises(LatimerError, match=message):
        read_hub(hub(nested, **{"configuration": "de-en"} | changes), split)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"en": "red", "de": null}', "'de' is empty .* in row 2"),
        ('{"en": "r\\u0000d", "de": "rot"}', "'en' holds a NUL in row 2"),
    ],
)
def test_a_row_without_text(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "train.jsonl").write_text(f'{{"en": "a", "de": "b"}}\n{row}\n', encoding="utf-8")
    with pytest.raises(LatimerError, match=message):
        read_hub(hub(tmp_path), "train")


def test_numbers_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text('{"en": 1, "de": "b"}\n', encoding="utf-8")
    with pytest.raises(LatimerError, match="'en' must hold text, and holds int64"):
        read_hub(hub(tmp_path), "train")


def test_a_loading_script_is_not_run(tmp_path: Path) -> None:  # field case 14
    folder = tmp_path / "scripted"
    folder.mkdir()
    (folder / "scripted.py").write_text("raise SystemExit('this must not run')", encoding="utf-8")
    with pytest.raises(LatimerError, match=r"scripted: .*Convert it to Parquet or JSON Lines"):
        read_hub(hub(folder), "train")


def test_an_unprepared_data_set_offline(tmp_path: Path) -> None:  # field case 15
    """In a process of its own, since the variable is read when datasets is imported."""
    program = (
        "from tests_hub import hub, read_hub\n"
        "try: read_hub(hub('some/set'), 'train')\n"
        "except Exception as error: print(type(error).__name__, error)"
    ).replace("tests_hub", Path(__file__).stem)
    environment = os.environ | {
        "HF_DATASETS_OFFLINE": "1",
        "HF_HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    started = time.monotonic()
    command = [sys.executable, "-c", program]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert time.monotonic() - started < 30
    assert output.stdout.startswith("LatimerError data.path=some/set: no such folder here")


def test_a_prepared_data_set_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # field case 15: the cache as a run with a network would have left it
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.jsonl").write_text('{"en": "red", "de": "rot"}\n', encoding="utf-8")
    read_hub(hub(tmp_path / "set"), "train")
    (prepared,) = (p for p in (tmp_path / "cache" / "set").glob("default*") if p.is_dir())
    (tmp_path / "cache" / "some___set").mkdir()
    prepared.rename(tmp_path / "cache" / "some___set" / "default")
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    assert read_hub(hub("some/set"), "train")["target"][:] == ["rot"]
