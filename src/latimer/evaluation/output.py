"""Where the results of an evaluation go."""

import os
from pathlib import Path

from latimer.errors import LatimerError


def output_folder(asked: str | None, checkpoint: Path) -> Path:
    """The folder of all results of a checkpoint; it need not exist yet."""
    return Path(asked or default_folder(checkpoint)).expanduser()


def default_folder(checkpoint: Path) -> Path:
    """``evaluation`` in the run's folder, or beside a checkpoint that lies outside any run."""
    beside = checkpoint.absolute().parent
    return (beside.parent if beside.name == "checkpoints" else beside) / "evaluation"


def make_writable(folder: Path) -> None:
    """Makes a folder, if need be, and finds it writable.

    Raises:
        LatimerError: it is not.
    """
    if folder.is_file():
        raise LatimerError(f"output_folder={folder}: this is a file; write the path of a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LatimerError(
            f"output_folder={folder}: cannot be made ({error.strerror}); write another folder"
        ) from error
    if not os.access(folder, os.W_OK):
        raise LatimerError(f"output_folder={folder}: cannot be written to; write another folder")
