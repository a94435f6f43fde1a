"""From what a person types to the file that is meant."""

import json
from pathlib import Path
from typing import Any

from latimer.errors import LatimerError

BEST = "best.ckpt"
AVERAGED = "averaged.ckpt"
FINAL = "final.json"
"""Beside the checkpoints of a run whose end was an average: which one the run was judged by."""
SHOWN = 10


def find_checkpoint(path: str | Path) -> Path:
    """The checkpoint at ``path``: the file itself, or the one that a run folder stands for.

    That is ``checkpoints/best.ckpt``, or the average made at the end of the run if that was better.

    Raises:
        LatimerError: there is none; the message lists those that lie nearby.
    """
    path = Path(path).expanduser()
    folder = path / "checkpoints"
    final = read_final(folder)
    for name in (final and final["checkpoint"], BEST):
        if name and (folder / name).is_file():
            return folder / name
    if path.is_dir():
        raise LatimerError(f"{path}: this folder is no run with a best checkpoint{_nearby(path)}")
    if not path.exists():
        raise LatimerError(f"{path}: there is no such checkpoint{_nearby(path.parent)}")
    return path


def write_final(folder: Path, checkpoint: str, scores: dict[str, dict[str, float]]) -> None:
    """Notes which checkpoint a run was judged by, and the validation scores of those in question.

    Args:
        folder: the run's checkpoints.
        checkpoint: the name of the file.
        scores: by the name of the file.

    Raises:
        LatimerError: the disk is full or cannot be written to.
    """
    note, aside = folder / FINAL, folder / f".{FINAL}.part"
    text = json.dumps({"checkpoint": checkpoint, "validation": scores}, indent=2)
    try:
        aside.write_text(text + "\n", encoding="utf-8")
        aside.replace(note)
    except OSError as error:
        raise LatimerError(f"{note}: not written ({error.strerror})") from error
    finally:
        aside.unlink(missing_ok=True)


def read_final(folder: Path) -> dict[str, Any] | None:
    """What :func:`write_final` noted: "checkpoint" and "validation"; None if it did not.

    Raises:
        LatimerError: the note cannot be read.
    """
    note = folder / FINAL
    if not note.is_file():
        return None
    try:
        said = json.loads(note.read_text(encoding="utf-8"))
        return {"checkpoint": str(said["checkpoint"]), "validation": dict(said["validation"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LatimerError(f"{note}: is broken; delete it, and {BEST} counts again") from error


def _nearby(folder: Path) -> str:
    """The .ckpt files of a folder, or of the run that it is or that it lies in."""
    for place in (folder, folder / "checkpoints", folder.parent / "checkpoints"):
        found = sorted(str(file) for file in place.glob("*.ckpt"))
        if found:
            rest = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
            return "; there are:\n  " + "\n  ".join(found[:SHOWN] + rest)
    return ""
