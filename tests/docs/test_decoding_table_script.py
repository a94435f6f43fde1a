"""The script that decodes one model in every way, with a toy model on a few lines."""

import io
import json
import re
import runpy
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from latimer.checkpoint import write_checkpoint
from latimer.scoring import score
from latimer.translation import Translator

ROOT = Path(__file__).parents[2]
PATH = ROOT / "docs" / "decoding_table.py"
SCRIPT = runpy.run_path(str(PATH))
SETTINGS = SCRIPT["main"].__globals__["SETTINGS"]
CLEANING = {
    "max_length": 100,
    "max_ratio": 9.0,
    "drop_duplicates": True,
    "drop_copies": True,
    "drop_in_test": True,
}


@pytest.fixture(scope="module")
def lines(make_sentences):
    sources, references = make_sentences(7, 3), make_sentences(7, 4)
    sources[2] = ""
    return sources, references


@pytest.fixture(scope="module")
def folder(tmp_path_factory, make_contents, lines):
    """Two checkpoints with the test sets "few" and "fewer"."""
    folder = tmp_path_factory.mktemp("model")
    gone = {"source": "gone.xx", "target": "gone.yy", "file": None}
    test = {}
    for name, count in (("few", 7), ("fewer", 2)):
        test[name] = {"source": f"{folder}/{name}.xx", "target": f"{folder}/{name}.yy"}
        for path, side in zip(test[name].values(), lines, strict=True):
            Path(path).write_text("".join(f"{line}\n" for line in side[:count]))
        test[name]["file"] = None
    for seed, name in enumerate(["one.ckpt", "two.ckpt"], start=1):
        contents = make_contents(seed=seed)
        contents["latimer"]["config"]["data"] = {
            "format": "files",
            "source_language": "xx",
            "target_language": "yy",
            "cleaning": CLEANING,
            "train": gone,
            "validation": gone,
            "test": test,
        }
        write_checkpoint(contents, folder / name)
    return folder


@pytest.fixture(scope="module", autouse=True)
def short_texts():
    """A model that has learned nothing doesn't end: a limit does."""
    with pytest.MonkeyPatch.context() as patch:
        for name, settings in SETTINGS.items():
            patch.setitem(SETTINGS, name, f"{settings} decoding.max_length_offset=3")
        yield


def run(*arguments):
    """What the script shows: the table, and the rows as they were finished."""
    told = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(told[0]), redirect_stderr(told[1]):
        patch.setattr(sys, "argv", [str(PATH), *map(str, arguments)])
        SCRIPT["main"](SCRIPT["read_arguments"]())
    return [each.getvalue() for each in told]


@pytest.fixture(scope="module")
def written(folder):
    """The table of both checkpoints, and the numbers behind it."""
    output = folder / "table.json"
    shown, finished = run(
        folder / "one.ckpt", "--ensemble", folder / "two.ckpt", "--output", output
    )
    return shown, finished, json.loads(output.read_text(encoding="utf-8"))


def test_a_row_for_each_way(written):
    shown, finished, numbers = written
    names = [row["name"] for row in numbers["rows"]]
    assert names == [*list(SETTINGS)[:9], SCRIPT["ORACLE"],
                     *list(SETTINGS)[9:], SCRIPT["ENSEMBLE"]]  # fmt: skip
    table = [line for line in shown.split("\n") if line.startswith("|")]
    assert len(table) == 2 + len(names)
    assert {line.count("|") for line in table} == {6}
    assert finished.rstrip("\n").split("\n") == table[2:]
    assert shown.count(numbers["signature"]) == 1
    assert "\n7 lines of few · 100 updates · float32 on " in shown


def test_the_numbers_are_those_of_the_settings(written, folder, lines):
    _, _, numbers = written
    rows = {row["name"]: row for row in numbers["rows"]}
    for name in ("greedy", "beam 8, α 1", "minimum risk, 16 samples", "ensemble of two, beam 4"):
        row = rows[name]
        paths = [folder / "one.ckpt", *re.findall(r"ensemble=\[(.*?)\]", row["settings"])]
        settings = [each for each in row["settings"].split() if "ensemble" not in each]
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            decoding = compose("evaluate", ["checkpoint=c", *settings]).decoding
        given = {key: value for key, value in decoding.items() if value is not None}
        search = SCRIPT["stored_search"]({"decoding": given})
        texts = Translator.from_checkpoints(paths, search).translate(lines[0])
        bleu = score(texts, lines[1], target_language="yy").bleu
        assert (row["bleu"], tuple(row["confidence"])) == (bleu.score, bleu.confidence)
        assert row["sentences_per_second"] == pytest.approx(7 / row["seconds"])


def test_every_row_says_all_that_is_set(written):
    """Each brings all keys of its method, whatever the checkpoint was trained with."""
    _, _, numbers = written
    for row in numbers["rows"]:
        assert re.match(r"(ensemble=\S+ )?decoding=\w+( decoding\.\w+=\S+)*$", row["settings"])
    plain = [row["settings"] for row in numbers["rows"] if row["name"] != SCRIPT["ORACLE"]]
    assert len(set(plain)) == len(plain)


def test_the_oracle_is_no_worse_and_beam_4_is_the_first_of_its_list(written):
    shown, _, numbers = written
    rows = {row["name"]: row for row in numbers["rows"]}
    assert numbers["first_of_4_is_that_of_beam_4"] == 7
    assert rows[SCRIPT["N_BEST"]]["bleu"] == rows[SCRIPT["PLAIN"]]["bleu"]
    assert "in 7 of 7 lines" in shown
    assert rows[SCRIPT["ORACLE"]]["bleu"] >= rows[SCRIPT["PLAIN"]]["bleu"]


def test_the_oracle_takes_what_is_nearest_to_the_reference(folder, tiny_tokenizer):
    from datasets import Dataset

    from latimer.checkpoint import load_model
    from latimer.decoding import Hypothesis
    from latimer.translation import Translation

    def found(*texts):
        return Translation(
            texts[0],
            tuple(Hypothesis(tuple(tiny_tokenizer.encode(t)), -1, -1, True) for t in texts),
        )

    pairs = Dataset.from_dict({"source": ["a", "b", ""], "target": ["the red boat", "a sea", "x"]})
    table = SCRIPT["Table"](load_model(folder / "one.ckpt"), pairs)
    lists = [found("a door", "the red boat", "the red"), found("a sea", "sea"), Translation()]
    assert table.best_of(lists) == ["the red boat", "a sea", ""]


def test_a_part_of_another_test_set_is_called_one(folder, monkeypatch):
    for name in SETTINGS.keys() - {SCRIPT["PLAIN"], SCRIPT["N_BEST"]}:
        monkeypatch.delitem(SETTINGS, name)
    shown, _ = run(folder / "one.ckpt", "--test-set", "fewer", "--limit", "1")
    assert "\nthe first 1 of 2 lines of fewer · " in shown
    assert shown.count("\n|") == 1 + 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.ckpt"], r"nowhere\.ckpt: there is no such checkpoint"),
        (["one.ckpt", "--test-set", "third"], "no test set 'third'; there are: few, fewer"),
        (["one.ckpt", "--output", "table.json"], r"table\.json: is there already"),
        (["one.ckpt", "--output", "gone/table.json"], r"gone/table\.json: there is no such folder"),
    ],
)
def test_what_is_not_possible_is_said_at_once(folder, written, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    before = (folder / "table.json").read_bytes()
    monkeypatch.setattr(sys, "argv", [str(PATH), *arguments])
    with pytest.raises(SystemExit, match=f"^error: .*{message}"):
        runpy.run_path(str(PATH), run_name="__main__")
    assert (folder / "table.json").read_bytes() == before
