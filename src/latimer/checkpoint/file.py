"""Writing a checkpoint so that it is never half there, and reading one so that it runs no code."""

import os
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from latimer import __version__
from latimer.checkpoint.location import find_checkpoint
from latimer.checkpoint.plain import as_plain
from latimer.errors import LatimerError

FORMAT = 1
"""Counts up when a file of the former kind can no longer be read."""


class DamagedCheckpointError(LatimerError):
    """A file that is not what was once written, or never was a checkpoint."""


def write_checkpoint(contents: Mapping[str, Any], path: str | Path) -> None:
    """Writes aside in the same folder, then renames: a reader finds the old file or the new one.

    Args:
        contents: tensors and plain values, under "latimer" what :func:`load_model` needs.
        path: where to; its folder must exist.

    Raises:
        LatimerError: the disk is full or cannot be written, or the contents could not be read back
            safely. A former file at ``path`` is then as it was.
    """
    path = Path(path)
    plain = as_plain(dict(contents))
    aside = path.with_name(f".{path.name}.part")
    try:
        with aside.open("wb") as file:
            torch.save(plain, file)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        _sync_folder(path.parent)
    except (OSError, RuntimeError) as error:
        raise LatimerError(f"{path}: not written ({_reason(error)}){_former(path)}") from error
    finally:
        aside.unlink(missing_ok=True)


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """Reads a file of ours, mapped into memory and onto the CPU.

    Args:
        path: a file, or a run's folder for its best checkpoint.

    Raises:
        DamagedCheckpointError: it is no checkpoint, or damaged.
        LatimerError: there is no such file, or it is unsafe, not ours, or of a format that this
            version does not read.
    """
    path = find_checkpoint(path)
    contents = _load(path)
    about = contents.get("latimer") if isinstance(contents, dict) else None
    if not isinstance(about, dict) or "format" not in about:
        raise LatimerError(f"{path}: this is not a checkpoint of latimer's")
    if about["format"] != FORMAT:
        raise LatimerError(
            f"{path}: made by latimer {about.get('version')} in format {about['format']}, but "
            f"latimer {__version__} reads format {FORMAT}; install the version that made it"
        )
    return contents  # type: ignore[no-any-return]


def _load(path: Path) -> Any:
    try:
        _require_intact(path)
        return torch.load(path, weights_only=True, mmap=True, map_location="cpu")
    except pickle.UnpicklingError as error:
        raise LatimerError(
            f"{path}: this file holds other things than tensors and plain values; it was not "
            "opened, since such a file can run code"
        ) from error
    except OSError as error:
        raise LatimerError(f"{path}: cannot be read ({error.strerror})") from error
    except Exception as error:  # a damaged file can break PyTorch's reader anywhere
        raise DamagedCheckpointError(
            f"{path}: this is no checkpoint, or it is incomplete or damaged"
        ) from error


def _require_intact(path: Path) -> None:
    """Compares the checksums that the file itself holds, which PyTorch's reader does not."""
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile(f"{damaged} is damaged")


def _sync_folder(folder: Path) -> None:
    """Makes a renaming last through a loss of power, where folders can be synchronised."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: BaseException) -> str:
    # PyTorch's writer hides what the disk said behind an error of its own.
    said = error.__context__ if isinstance(error.__context__, OSError) else error
    return getattr(said, "strerror", None) or str(said)


def _former(path: Path) -> str:
    return "; the file that was there before is intact" if path.exists() else ""
