"""``docs/decoding.md`` is true: its example runs, its commands are valid, no key is left out."""

import re
import runpy
import shlex
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from typer.main import get_command

from latimer.checkpoint import load_model, write_checkpoint
from latimer.cli import app
from latimer.commands.decoding import make_translator, read_settings
from latimer.config.compose import evaluate_config, run_config
from latimer.config.decoding import DecodingChanges, stored_decoding
from latimer.translation import Translator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "decoding.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"^```bash\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.replace("\\\n", "").splitlines()
]
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_no_key_is_left_out():
    missing = [key for key in DecodingChanges.model_fields if f"`{key}`" not in PAGE]
    assert missing in ([], ["method"])
    assert "`decoding.method`" in PAGE


def test_the_example_runs_and_says_what_it_says(make_contents, tmp_path, monkeypatch, capsys):
    for seed, name in enumerate(["2026-01-31_12-00-00", "2026-02-01_12-00-00"], start=1):
        path = tmp_path / "runs" / "enm-en" / name / "checkpoints" / "best.ckpt"
        path.parent.mkdir(parents=True)
        write_checkpoint(make_contents(seed=seed), path)
    monkeypatch.chdir(tmp_path)
    [example] = EXAMPLES
    names: dict = {}
    exec(compile(example, "docs/decoding.md", "exec"), names)
    for texts in ("texts", "begun", "likeliest", "together"):
        assert [bool(text) for text in names[texts]] == [True, False, True]
    assert names["begun"][0].startswith("the sea")
    assert [one is None for one in names["given"]] == [False, True, False]
    shown = capsys.readouterr().out.splitlines()
    assert [len(re.findall(r"-?\d+\.\d{4}\b", line)) for line in shown] == [2] * 6 + [1] * 2


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command(words, tiny_checkpoint, monkeypatch):
    if words[:2] == ["python", "evaluate.py"]:
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            config = evaluate_config(compose("evaluate", words[2:]), ROOT)
        trained = stored_decoding(load_model(tiny_checkpoint).config["decoding"])
        assert config.decoding.applied_to(trained) != trained
    elif words[:2] == ["python", "train.py"]:
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            assert run_config(compose("train", words[2:]), ROOT).name == "multi30k"
    elif words[0] == "latimer":
        command = get_command(app).commands[words[1]]
        given = command.make_context(words[1], words[2:]).params
        make_translator(
            load_model(tiny_checkpoint),
            changes=read_settings(given["settings"] or []),
            device="cpu",
        )
    else:
        assert words[:2] == ["python", "docs/decoding_table.py"]
        script = runpy.run_path(str(ROOT / words[1]))
        monkeypatch.setattr("sys.argv", words[1:])
        assert script["read_arguments"]().checkpoint == "CHECKPOINT"


def test_the_best_hypothesis_does_not_depend_on_how_many_are_wanted(tiny_checkpoint):
    lines = ["the red boat", "a small sea", "old house"]
    loaded = load_model(tiny_checkpoint)
    one, three = (
        make_translator(loaded, changes={}, n_best=n_best, device="cpu").translate(lines)
        for n_best in (None, 3)
    )
    assert one == three == Translator.from_checkpoint(tiny_checkpoint).translate(lines)
