"""A run's folder is made for it alone, and a run is never lost by default."""

import json
from datetime import datetime

import pytest

from latimer.errors import LatimerError
from latimer.training.run_folder import create_run_folder, describe_environment

NOW = datetime(2026, 3, 4, 5, 6, 7)


def test_two_starts_in_one_second_give_two_folders(make_config, tmp_path):
    config = make_config()
    names = [create_run_folder(config, NOW).relative_to(tmp_path / "runs") for _ in range(3)]
    expected = ["toy/2026-03-04_05-06-07", "toy/2026-03-04_05-06-07-2", "toy/2026-03-04_05-06-07-3"]
    assert [str(name) for name in names] == expected


def finished_run(folder):
    (folder / "checkpoints").mkdir(parents=True)
    for name in ("config.yaml", "environment.json", "train.log"):
        (folder / name).write_text("former", encoding="utf-8")
    return folder


def test_a_new_run_refuses_a_folder_that_holds_a_run(make_config, tmp_path):
    """Field case 77."""
    folder = finished_run(tmp_path / "mine")
    with pytest.raises(LatimerError, match=r"holds a run.*mode=overwrite"):
        create_run_folder(make_config(run_folder=str(folder)), NOW)
    assert (folder / "config.yaml").exists()


def test_overwriting_is_asked_for_by_name(make_config, tmp_path):
    """Field case 77."""
    folder = finished_run(tmp_path / "mine")
    config = make_config(run_folder=str(folder), mode="overwrite")
    assert create_run_folder(config, NOW) == folder
    assert not list(folder.iterdir())


@pytest.mark.parametrize("key", ["init_from", "init_from_partial"])
def test_a_run_that_the_new_one_begins_with_is_not_overwritten(make_config, tmp_path, key):
    folder = finished_run(tmp_path / "mine")
    source = folder / "checkpoints" / "best.ckpt"
    source.parent.mkdir(exist_ok=True)
    source.write_bytes(b"weights")
    config = make_config(run_folder=str(folder), mode="overwrite", **{key: str(source)})
    with pytest.raises(LatimerError, match=rf"{key}=.*would delete"):
        create_run_folder(config, NOW)
    assert source.read_bytes() == b"weights"


def test_a_tokenizer_in_a_run_is_not_overwritten_either(make_config, tmp_path):
    folder = finished_run(tmp_path / "mine")
    (folder / "tokenizer.model").write_bytes(b"pieces")
    sections = {"tokenizer.file": str(folder / "tokenizer.model")}
    config = make_config(run_folder=str(folder), mode="overwrite", **sections)
    with pytest.raises(LatimerError, match=r"tokenizer\.file=.*would delete"):
        create_run_folder(config, NOW)


def test_a_folder_of_other_files_is_never_deleted(make_config, tmp_path):
    (tmp_path / "home").mkdir()
    for name in ("thesis.tex", "config.yaml"):
        (tmp_path / "home" / name).write_text("years of work", encoding="utf-8")
    config = make_config(run_folder=str(tmp_path / "home"), mode="overwrite")
    with pytest.raises(LatimerError, match="no run of latimer's"):
        create_run_folder(config, NOW)
    assert (tmp_path / "home" / "thesis.tex").exists()


def test_an_empty_folder_and_missing_parents_will_do(make_config, tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "a/b/c"):
        folder = tmp_path / name
        assert create_run_folder(make_config(run_folder=str(folder)), NOW) == folder
        assert folder.is_dir()


def test_the_environment_says_what_it_takes_to_repeat_a_run():
    environment = describe_environment("CPU with 2 threads")
    assert environment["packages"]["torch"]
    assert environment["hardware"] == "CPU with 2 threads"
    assert json.loads(json.dumps(environment)) == environment
