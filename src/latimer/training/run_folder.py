"""The folder that a run writes to, and nothing outside it but the prepared corpus."""

import json
import platform
import shutil
import subprocess
import sys
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from latimer.config.run import RunConfig
from latimer.errors import LatimerError

FILES_OF_A_RUN = ("config.yaml", "environment.json", "train.log")
PACKAGES = (
    "latimer",
    "torch",
    "pytorch-lightning",
    "hydra-core",
    "omegaconf",
    "datasets",
    "sentencepiece",
    "sacrebleu",
    "tensorboard",
    "pydantic",
    "numpy",
)


def create_run_folder(config: RunConfig, now: datetime) -> Path:
    """Makes a folder for a new run: ``run_folder``, or ``<runs_folder>/<name>/<date>_<time>[-n]``.

    Raises:
        LatimerError: the folder that was asked for holds something already, and ``mode`` is not
            "overwrite"; or it holds something that is no run.
    """
    if config.run_folder is None:
        return _create_next(Path(config.runs_folder) / config.name, f"{now:%Y-%m-%d_%H-%M-%S}")
    folder = Path(config.run_folder)
    if folder.exists():
        _make_way(folder, config.mode)
    folder.mkdir(parents=True)
    return folder


def _create_next(parent: Path, stem: str) -> Path:
    """Creates the folder exclusively: two starts in one second give two folders."""
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = parent / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def _make_way(folder: Path, mode: str) -> None:
    """Removes an empty folder, or a run that is to be overwritten; refuses everything else."""
    if not folder.is_dir():
        raise LatimerError(f"run_folder={folder}: this is a file; write the path of a new folder")
    if not any(folder.iterdir()):
        folder.rmdir()
        return
    if not all((folder / name).is_file() for name in FILES_OF_A_RUN):
        raise LatimerError(
            f"run_folder={folder}: the folder holds files that are no run of latimer's; "
            "write the path of a new folder"
        )
    if mode != "overwrite":
        raise LatimerError(
            f"run_folder={folder}: the folder holds a run; write the path of a new folder, or "
            "mode=overwrite to delete that run and start again"
        )
    shutil.rmtree(folder)


def write_json(content: Any, path: Path) -> None:
    """Writes readable JSON, as UTF-8."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    # An argument that the locale could not read holds half characters, which are escaped.
    path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def describe_environment(hardware: str) -> dict[str, Any]:
    """Versions, git revision, hardware and the command: what it takes to do the same again."""
    return {
        "command": [Path(sys.orig_argv[0]).name, *sys.orig_argv[1:]],
        "launch_folder": str(Path.cwd()),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "hardware": hardware,
        "cpu_threads": torch.get_num_threads(),
        "git_revision": _git_revision(),
        "packages": {package: version(package) for package in PACKAGES},
    }


def _git_revision() -> str | None:
    """The revision of the source this runs from, with ``-dirty`` if it was changed since."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    here = Path(__file__).parent
    try:
        result = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip()
