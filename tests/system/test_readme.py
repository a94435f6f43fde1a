"""The commands in README.md are right: they compose, and their settings are valid."""

import itertools
import re
import shlex
from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser

from latimer.config.arguments import leave_to_schema, refuse_dashes
from latimer.config.compose import evaluate_config, run_config
from latimer.config.evaluate import EvaluateConfig
from latimer.config.run import RunConfig

ROOT = Path(__file__).parents[2]
GROUPS = [folder.name for folder in (ROOT / "conf").iterdir() if folder.is_dir()]
CHECKS = {"train": (run_config, RunConfig), "evaluate": (evaluate_config, EvaluateConfig)}


def commands(text: str) -> list[tuple[str, ...]]:
    """The script and the arguments of each command in the bash blocks of a Markdown text."""
    found = []
    for block in re.findall(r"^```(?:bash|sh)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").split("\n"):
            words = shlex.split(line, comments=True)
            if match := re.search(r"python\S* (train|evaluate)\.py", line):
                script = next(n for n, word in enumerate(words) if word.endswith(".py"))
                found.append((match[1], *words[script + 1 :]))
            elif words[:1] == ["make"] and words[1] in CHECKS:
                given = [word[len("ARGS=") :] for word in words[2:] if word.startswith("ARGS=")]
                found.append((words[1], *shlex.split(" ".join(given))))
    return found


def jobs(arguments: list[str]) -> list[list[str]]:
    """The settings of each job: one, or with -m those of a sweep."""
    settings = [leave_to_schema(argument, GROUPS) for argument in arguments if "=" in argument]
    if not {"-m", "--multirun"} & {*arguments}:
        return [settings]
    choices = []
    for override in OverridesParser.create().parse_overrides(settings):
        values = override.sweep_string_iterator() if override.is_sweep_override() else [None]
        name = override.input_line.partition("=")[0]
        choices.append([override.input_line if v is None else f"{name}={v}" for v in values])
    return [list(job) for job in itertools.product(*choices)]


COMMANDS = commands((ROOT / "README.md").read_text(encoding="utf-8"))


def store_run(folder: Path) -> None:
    """A run as ``train.py`` without arguments leaves it, as far as its configuration goes."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        config = run_config(compose("train"), ROOT)
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config.model_dump(mode="json")))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_of_the_readme(command, tmp_path):
    script, *arguments = command
    make, schema = CHECKS[script]
    refuse_dashes(arguments, schema)
    for run in (word.removeprefix("resume=") for word in arguments if word.startswith("resume=")):
        store_run(tmp_path / run)
    for settings in jobs(arguments):
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            make(compose(script, settings), tmp_path)


def test_the_readme_shows_how_to_override():
    given = [command for command in COMMANDS if any("=" in word for word in command[1:])]
    assert len(given) >= 6
    assert {script for script, *_ in COMMANDS} == {"train", "evaluate"}


def test_commands_are_found():
    text = """python train.py not=code
```bash
make train ARGS="seed=2 'name=a b'"   # a comment
.venv/bin/python train.py -m seed=1,2 \\
    model=tiny,small
```
```
python train.py an=output
```
"""
    first, second = commands(text)
    assert first == ("train", "seed=2", "name=a b")
    assert second == ("train", "-m", "seed=1,2", "model=tiny,small")
    assert jobs([*second[1:]])[-1] == ["++seed=2", "model=small"]
    assert len(jobs([*second[1:]])) == 4
