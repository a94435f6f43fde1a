"""The ``latimer`` command, as a person starts it."""

import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from latimer.checkpoint import write_checkpoint
from latimer.cli import app
from latimer.commands.decoding import read_settings
from latimer.config.decoding import DecodingChanges
from latimer.translation import Translator


def test_attention_to_a_given_target(latimer, tiny_checkpoint, tmp_path):
    code, shown = latimer(
        *("attention", tiny_checkpoint, "the old boat", "--target", "a red door"),
        *("--output", tmp_path / "new" / "pictures"),
    )
    assert (code, shown.err) == (0, "")
    names = sorted(path.name for path in (tmp_path / "new" / "pictures").iterdir())
    assert names[0] == "attention.html"
    assert len(names) == 1 + 1 + 2 + 2
    assert "the old boat" in shown.out
    assert "a red door" in shown.out
    assert str(tmp_path / "new" / "pictures" / "attention.html") in shown.out


def test_attention_to_the_models_own_translation_of_a_run(latimer, tiny_checkpoint):
    run = tiny_checkpoint.parents[1]
    code, shown = latimer("attention", run, "the old boat")
    assert code == 0
    assert "translation" in shown.out
    assert (run / "attention" / "1" / "attention.html").exists()


def test_compare_is_given_the_folders_and_the_screen(latimer, monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr("latimer.evaluation.compare.compare_runs", lambda *a: given.append(a))
    code, _ = latimer("compare", tmp_path / "one", tmp_path / "two", tmp_path / "three")
    [(folders, screen)] = given
    assert code == 0
    assert folders == [tmp_path / "one", tmp_path / "two", tmp_path / "three"]
    assert hasattr(screen, "table")


@pytest.fixture
def typed(monkeypatch):
    """Puts bytes on standard input."""

    def type_in(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return type_in


SOURCES = ["the red boat", "", "a small blue door", "sea"]


@pytest.fixture
def translations(tiny_checkpoint):
    """What the tiny model makes of them."""
    return Translator.from_checkpoint(tiny_checkpoint, device="cpu").translate(SOURCES)


def test_one_line_comes_out_for_each_line_that_goes_in(
    latimer, tiny_checkpoint, translations, typed
):  # field cases 5, 8
    typed("\ufeffthe red boat\r\n\r\na small blue door\r\nsea".encode())
    code, shown = latimer("translate", tiny_checkpoint, "-", "--output", "-")
    assert (code, shown.out) == (0, "".join(f"{text}\n" for text in translations))
    assert shown.err.startswith("4 lines in ")
    assert "1 blank" in shown.err


@pytest.mark.parametrize("chunk", [1, 2, 1000])
def test_files_are_translated_one_after_another(
    latimer, tiny_checkpoint, translations, typed, tmp_path, chunk
):  # field case 6
    (tmp_path / "a.txt").write_text("the red boat\n\n")
    typed(b"a small blue door\n")
    (tmp_path / "b.txt").write_text("sea")
    files = [tmp_path / "a.txt", "-", tmp_path / "b.txt"]
    arguments = ["--chunk", chunk, "--output", tmp_path / "out.txt", "--quiet"]
    code, shown = latimer("translate", tiny_checkpoint, *files, *arguments)
    assert (code, shown.out, shown.err) == (0, "", "")
    assert (tmp_path / "out.txt").read_text().split("\n")[:-1] == translations


def test_several_translations_of_a_line_with_scores_and_alignments(
    latimer, tiny_checkpoint, translations, typed, tmp_path
):
    typed("\n".join(SOURCES).encode())
    beside = tmp_path / "alignments.txt"
    options = ["--n-best", "2", "--scores", "--alignments", beside, "--alignment-layer", "1"]
    code, shown = latimer("translate", tiny_checkpoint, *options)
    rows = [line.split(" ||| ") for line in shown.out.split("\n")[:-1]]
    alignments = beside.read_text().split("\n")[:-1]
    assert code == 0
    assert [int(index) for index, *_ in rows] == [0, 0, 1, 2, 2, 3, 3]
    assert [rows[n][1] for n in (0, 2, 3, 5)] == translations
    assert len(alignments) == len(rows)
    for (index, text, score), links in zip(rows, alignments, strict=True):
        assert float(score) <= 0
        pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert [target for _, target in pairs] == list(range(len(text.split())))
        assert all(source < len(SOURCES[int(index)].split()) for source, _ in pairs)


def test_json_holds_the_alignments_themselves(latimer, tiny_checkpoint, translations, typed):
    typed("\n".join(SOURCES).encode())
    options = ["--format", "jsonl", "--alignments", "-", "--scores"]
    code, shown = latimer("translate", tiny_checkpoint, *options)
    rows = [json.loads(line) for line in shown.out.split("\n")[:-1]]
    assert code == 0
    assert [row["index"] for row in rows] == [0, 1, 2, 3]
    assert [row["source"] for row in rows] == SOURCES
    assert [row["translation"] for row in rows] == translations
    assert [bool(row["alignment"]) for row in rows] == [True, False, True, True]
    assert all(row["score"] >= row["log_probability"] for row in rows)


def test_settings_reach_the_search(latimer, tiny_checkpoint, typed):
    typed(b"the red boat\n")
    settings = ["--set", "max_length_factor=0", "--set", "max_length_offset=2"]
    options = ["--beam-size", "1", "--length-penalty", "average", "--max-tokens", "50"]
    code, shown = latimer("translate", tiny_checkpoint, *settings, *options)
    assert code == 0
    assert len(shown.out.split()) <= 2
    assert "1 ended by the length limit" in shown.err


def test_an_ensemble(latimer, tiny_checkpoint, make_contents, tmp_path, typed):
    other = tmp_path / "other.ckpt"
    write_checkpoint(make_contents(seed=2), other)
    together = Translator.from_checkpoints([tiny_checkpoint, other], device="cpu")
    typed("\n".join(SOURCES).encode())
    code, shown = latimer("translate", tiny_checkpoint, "--ensemble", other)
    assert (code, shown.out.split("\n")[:-1]) == (0, together.translate(SOURCES))


def test_an_ensemble_of_one_and_the_same_is_refused(latimer, tiny_checkpoint, typed):
    typed("\n".join(SOURCES).encode())
    code, shown = latimer("translate", tiny_checkpoint, "--ensemble", tiny_checkpoint)
    assert "are the same state of a model" in code
    assert shown.out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--n-best", "5"], "n_best=5: must be at most beam_size=3"),  # field case 103
        (["--alignments", "-"], "--alignments -: text has no place for them"),
        (["--alignment-layer", "1"], "--alignment-layer: there are no alignments"),
        (["--alignments", "x", "--alignment-layer", "3"], "the decoder has layers 1 to 2"),
        (["nowhere.txt"], "nowhere.txt: can't be read (No such file"),
        (["in.txt", "--output", "in.txt"], "--output in.txt: is read from or written to as well"),
        (["--output", "a", "--alignments", "a"], "--alignments a: is read from or written to"),
        (["--device", "abc"], "there is no such device"),
    ],
)
def test_what_is_not_possible_is_said_before_a_line_is_read(
    latimer, tiny_checkpoint, monkeypatch, tmp_path, arguments, message
):
    class Unread(io.BytesIO):
        def read1(self, size=-1, /):
            raise AssertionError("a line was read")

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Unread()))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("sea\n")
    said, shown = latimer("translate", tiny_checkpoint, *arguments)
    assert message in str(said)
    assert shown.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "runs"]


def test_a_bad_byte_leaves_what_was_translated_and_no_file(
    latimer, tiny_checkpoint, translations, typed, tmp_path
):  # field case 9
    content = b"the red boat\n\ncaf\xe9\nsea\n"
    typed(content)
    said, shown = latimer("translate", tiny_checkpoint)
    assert str(said).startswith("error: standard input, line 3: byte 0xE9 is not UTF-8")
    assert shown.out.split("\n")[:-1] == translations[:2]
    (tmp_path / "bad.txt").write_bytes(content)
    said, _ = latimer(
        "translate", tiny_checkpoint, tmp_path / "bad.txt", "--output", tmp_path / "out.txt"
    )
    assert "bad.txt, line 3" in str(said)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "runs"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["attention", "nowhere.ckpt", "a boat"], "error: nowhere.ckpt: there is no such"),
        (["attention", None, " "], "error: the sentence is empty"),
    ],
)
def test_a_mistake_is_one_message(latimer, tiny_checkpoint, arguments, message):
    # Python itself prints a text that a program exits with on stderr, and makes a 1 of it.
    said, shown = latimer(*[tiny_checkpoint if word is None else word for word in arguments])
    assert str(said).startswith(message)
    assert (shown.out, shown.err) == ("", "")


@pytest.mark.parametrize("arguments", [["attention"], ["attentoin"], ["attention", "x", "y", "z"]])
def test_a_command_that_is_written_wrongly(latimer, arguments):
    code, shown = latimer(*arguments)
    assert code == 2
    assert "Usage" in shown.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["translate", "attention", "compare"]),
        (["translate", "-h"], ["FILE", "--n-best", "--format", "--set", "--alignments"]),
        (["attention", "-h"], ["CHECKPOINT", "SENTENCE", "--target", "--output"]),
        (["compare", "--help"], ["RUN", "paired test"]),
    ],
)
def test_help(latimer, arguments, words):
    code, shown = latimer(*arguments)
    assert code == 0
    assert all(word in shown.out for word in words)


def commands_of_the_readme():
    """The arguments of each latimer command in its blocks, without what the shell takes away."""
    readme = Path(__file__).parents[1] / "README.md"
    blocks = re.findall(r"^```bash\n(.*?)^```", readme.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").split("\n")]
    commands = [re.search(r"\blatimer (.*?)(?= [<>|#] |$)", line) for line in lines]
    return [shlex.split(command[1]) for command in commands if command]


@pytest.mark.parametrize("arguments", commands_of_the_readme(), ids=" ".join)
def test_a_command_of_the_readme(arguments):
    name, *rest = arguments
    command = get_command(app).commands[name]
    given = command.make_context(name, rest).params
    changes = read_settings(given.get("settings") or [])
    assert changes.keys() <= DecodingChanges.model_fields.keys()


def test_the_readme_shows_commands():
    assert {name for name, *_ in commands_of_the_readme()} >= {"translate", "attention", "compare"}


def test_help_loads_nothing_heavy():
    program = (
        "import sys, latimer.cli; "
        "sys.exit(str({'torch', 'matplotlib', 'numpy', 'datasets'} & set(sys.modules) or ''))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ended.stderr.strip() == ""
