"""``latimer translate --prefixes``: translations that go on where a person has begun."""

import gzip
import io
import json
import sys

import pytest

from latimer.cli import main
from latimer.translation import Translator

LINES = ["the red boat", "", "a small blue door", "sea", "old house"]
PREFIXES = ["a red", "the", "", "small sea", "bird"]


@pytest.fixture
def latimer(monkeypatch, capsys, tmp_path, tiny_checkpoint):
    """Translates with the tiny checkpoint; the exit code or last word, and what it showed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, typed=""):
        command = ["latimer", "translate", str(tiny_checkpoint), *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", command)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    return run


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def begun(tiny_checkpoint):
    return Translator.from_checkpoint(tiny_checkpoint, device="cpu").translate(LINES, PREFIXES)


@pytest.mark.parametrize("chunk", [1, 2, 1000])
def test_each_line_has_its_own(latimer, tmp_path, begun, chunk):
    for number, prefix in enumerate(PREFIXES):
        assert begun[number].startswith(prefix) or not LINES[number]
    write(tmp_path / "a.txt", LINES[:2])
    write(tmp_path / "b.txt", LINES[2:])
    with gzip.open(tmp_path / "begins.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(PREFIXES))
    code, shown = latimer("a.txt", "b.txt", "--prefixes", "begins.gz", "--chunk", chunk)
    assert (code, shown.out.split("\n")[:-1]) == (0, begun)


def test_lines_or_prefixes_may_come_through_a_pipe(latimer, tmp_path, begun):
    write(tmp_path / "lines.txt", LINES)
    write(tmp_path / "begins.txt", PREFIXES)
    for arguments, typed in [
        (["--prefixes", "begins.txt"], LINES),
        (["lines.txt", "--prefixes", "-"], PREFIXES),
    ]:
        code, shown = latimer(*arguments, typed="\n".join(typed))
        assert (code, shown.out.split("\n")[:-1]) == (0, begun)


def test_all_that_is_listed_begins_so(latimer, tmp_path):
    write(tmp_path / "begins.txt", PREFIXES[:1])
    options = ["--n-best", "3", "--format", "jsonl", "--scores", "--alignments", "-"]
    code, shown = latimer("--prefixes", "begins.txt", *options, typed=LINES[0])
    [row] = map(json.loads, shown.out.splitlines())
    assert code == 0
    assert len(row["hypotheses"]) == 3
    assert all(each["translation"].startswith("a red") for each in row["hypotheses"])
    assert all(each["alignment"] for each in row["hypotheses"])


@pytest.mark.parametrize("prefixes", [PREFIXES[:-1], [*PREFIXES, ""]], ids=["fewer", "more"])
def test_files_of_unequal_length_are_refused_before_a_line_is_translated(
    latimer, tmp_path, prefixes
):
    write(tmp_path / "lines.txt", LINES)
    write(tmp_path / "begins.txt", prefixes)
    said, shown = latimer("lines.txt", "--prefixes", "begins.txt", "--output", "out.txt")
    there_are = f"there are {len(prefixes)} prefixes, but 5 lines of input"
    assert str(said).startswith(f"error: --prefixes begins.txt: {there_are}")
    assert (shown.out, (tmp_path / "out.txt").exists()) == ("", False)


@pytest.mark.parametrize(
    ("prefixes", "message"),
    [
        (PREFIXES[:3], "there are 3 prefixes, but at least 4 lines"),
        ([*PREFIXES, ""], "there are at least 6 prefixes, but 5 lines"),
    ],
    ids=["fewer", "more"],
)
def test_pipes_of_unequal_length_leave_no_file(latimer, tmp_path, prefixes, message):
    write(tmp_path / "begins.txt", prefixes)
    options = ["--prefixes", "begins.txt", "--output", "out.txt", "--chunk", "2"]
    said, _ = latimer(*options, typed="\n".join(LINES))
    assert message in str(said)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begins.txt", "runs"]


def test_one_that_cannot_be_written_is_named_by_its_line(latimer, tmp_path):
    write(tmp_path / "lines.txt", LINES)
    write(tmp_path / "begins.txt", [*PREFIXES[:3], "red Ж", ""])
    said, shown = latimer("lines.txt", "--prefixes", "begins.txt", "--chunk", "2")
    assert str(said).startswith("error: begins.txt, line 4: 'red Ж' has characters that are in no")
    assert shown.out.count("\n") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prefixes", "-"], "standard input holds the lines already"),
        (["in.txt", "--prefixes", "gone.txt"], "gone.txt: can't be read (No such file"),
        (["in.txt", "--prefixes", "b.txt", "--output", "b.txt"], "--output b.txt: is read from"),
    ],
)
def test_what_is_not_possible(latimer, tmp_path, arguments, message):
    write(tmp_path / "in.txt", LINES)
    write(tmp_path / "b.txt", PREFIXES)
    said, shown = latimer(*arguments)
    assert message in str(said)
    assert shown.out == ""
    assert (tmp_path / "b.txt").read_text().splitlines() == PREFIXES
