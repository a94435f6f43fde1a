"""The ``latimer`` command, as a person starts it."""

import subprocess
import sys

import pytest

from latimer.cli import main


@pytest.fixture
def latimer(monkeypatch, capsys):
    """Runs the command in this process; its exit code or last word, and what it showed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["latimer", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    return run


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
        (["--help"], ["attention", "compare"]),
        (["attention", "-h"], ["CHECKPOINT", "SENTENCE", "--target", "--output"]),
        (["compare", "--help"], ["RUN", "paired test"]),
    ],
)
def test_help(latimer, arguments, words):
    code, shown = latimer(*arguments)
    assert code == 0
    assert all(word in shown.out for word in words)


def test_help_loads_nothing_heavy():
    program = (
        "import sys, latimer.cli; "
        "sys.exit(str({'torch', 'matplotlib', 'numpy', 'datasets'} & set(sys.modules) or ''))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ended.stderr.strip() == ""
