"""The two commands, as a person starts them."""

import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """What is left of a command: its exit code, and what it said."""

    code: int
    shown: str
    complaints: str


@pytest.fixture
def command(monkeypatch, capsys) -> Callable[..., Ended]:
    """Runs a script in this process, as ``python <script> <arguments>`` would."""

    def run(script: str, *arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", [str(ROOT / script), *arguments])
        monkeypatch.setenv("HYDRA_FULL_ERROR", "1")  # set by the script, and gone with the test
        capsys.readouterr()
        code, said = 0, ""
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as ended:
            # Python itself prints a text that a script exits with, and makes a 1 of it.
            is_text = isinstance(ended.code, str)
            code, said = (1, f"{ended.code}\n") if is_text else (ended.code or 0, "")
        shown = capsys.readouterr()
        return Ended(code, shown.out, shown.err + said)

    return run


@pytest.fixture
def new_command(tmp_path) -> Callable[..., Ended]:
    """Runs a script in a process and a folder of its own, for a person with an empty home."""

    def run(script: str, *arguments: str, cwd: Path) -> Ended:
        (tmp_path / "home").mkdir(exist_ok=True)
        ended = subprocess.run(
            [sys.executable, str(ROOT / script), *arguments],
            cwd=cwd,
            # matplotlib, which Lightning's metrics import, keeps a list of fonts.
            env={
                **os.environ,
                "HOME": str(tmp_path / "home"),
                "MPLCONFIGDIR": str(tmp_path / "matplotlib"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert list((tmp_path / "home").iterdir()) == []
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run
