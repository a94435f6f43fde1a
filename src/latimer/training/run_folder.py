"""The folder that a run writes to, and nothing outside it but the prepared corpus."""

import json
import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import yaml
from filelock import FileLock, Timeout

from latimer.config.entry import command_of_this_job
from latimer.config.run import RunConfig
from latimer.errors import LatimerError

CONFIG, LOCK = "config.yaml", ".lock"
FILES_OF_A_RUN = (CONFIG, "environment.json", "train.log")
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
            "overwrite"; or it holds something that is no run, or that the new run begins with.
    """
    if config.run_folder is None:
        return _create_next(Path(config.runs_folder) / config.name, f"{now:%Y-%m-%d_%H-%M-%S}")
    check_run_folder(config)
    folder = Path(config.run_folder)
    if folder.exists() and _content(folder):
        with sole_writer(folder):
            shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def check_run_folder(config: RunConfig) -> None:
    """Raises LatimerError where :func:`create_run_folder` would, and touches nothing."""
    if config.run_folder is not None and (folder := Path(config.run_folder)).exists():
        _check_way(folder, config.mode)
        _check_needed(folder, config)


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


def _check_way(folder: Path, mode: str) -> None:
    """Refuses what is neither an empty folder nor a run that is to be overwritten."""
    if not folder.is_dir():
        raise LatimerError(f"run_folder={folder}: this is a file; write the path of a new folder")
    if not _content(folder):
        return
    if not all((folder / name).is_file() for name in FILES_OF_A_RUN):
        raise LatimerError(
            f"run_folder={folder}: the folder holds files that are no run of latimer's; "
            "write the path of a new folder"
        )
    if mode != "overwrite":
        raise LatimerError(
            f"run_folder={folder}: the folder holds a run; write the path of a new folder, or "
            f"resume={folder} to go on with it, or mode=overwrite to delete that run and start "
            "again"
        )


def _check_needed(folder: Path, config: RunConfig) -> None:
    """Refuses to overwrite a folder that the new run reads from."""
    place = folder.resolve()
    for key, path in _paths(config.model_dump(exclude={"run_folder"})):
        if path.resolve().is_relative_to(place) and path.exists():
            raise LatimerError(
                f"{key}={path}: lies in run_folder={folder}, which mode=overwrite would delete; "
                "write another run_folder"
            )


def _paths(section: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Path]]:
    """Every text of the configuration, by its dotted key, as the path that it may be."""
    for key, value in section.items():
        if isinstance(value, dict):
            yield from _paths(value, f"{prefix}{key}.")
        elif isinstance(value, str) and value:
            yield f"{prefix}{key}", Path(value).expanduser()


def _content(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name != LOCK]


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Keeps other processes from writing to a run's folder; a killed one keeps nobody off.

    Raises:
        LatimerError: another process is writing to it.
    """
    path = folder / LOCK
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise LatimerError(
            f"{folder}: another process is training in this folder; wait for its end, or stop it"
        ) from None
    except OSError as error:
        raise LatimerError(f"{folder}: cannot be written to ({error.strerror})") from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def write_config(config: RunConfig, folder: Path) -> None:
    """Writes ``config.yaml``: every key."""
    settings = config.model_dump(mode="json")
    write_text(yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), folder / CONFIG)


def write_json(content: Any, path: Path) -> None:
    """Writes readable JSON."""
    write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", path)


def read_json(path: Path) -> Any:
    """What :func:`write_json` wrote.

    Raises:
        LatimerError: the file can't be read.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LatimerError(f"{path}: cannot be read ({error})") from error


def write_text(text: str, path: Path) -> None:
    """Writes UTF-8 aside, then renames: a reader finds the former file or the new one."""
    aside = path.with_name(f".{path.name}.part")
    # An argument that the locale could not read holds half characters, which are escaped.
    aside.write_text(text, encoding="utf-8", errors="backslashreplace")
    aside.replace(path)


def describe_environment(hardware: str) -> dict[str, Any]:
    """Versions, git revision, hardware and the command: what it takes to do the same again."""
    return {
        "command": command_of_this_job(),
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
