"""From what a person types to the file that is meant."""

from pathlib import Path

from latimer.errors import LatimerError

SHOWN = 10


def find_checkpoint(path: str | Path) -> Path:
    """The checkpoint at ``path``: the file itself, or a run folder's ``checkpoints/best.ckpt``.

    Raises:
        LatimerError: there is none; the message lists those that lie nearby.
    """
    path = Path(path).expanduser()
    best = path / "checkpoints" / "best.ckpt"
    if best.is_file():
        return best
    if path.is_dir():
        raise LatimerError(f"{path}: this folder is no run with a best checkpoint{_nearby(path)}")
    if not path.exists():
        raise LatimerError(f"{path}: there is no such checkpoint{_nearby(path.parent)}")
    return path


def _nearby(folder: Path) -> str:
    """The .ckpt files of a folder, or of the run that it is or that it lies in."""
    for place in (folder, folder / "checkpoints", folder.parent / "checkpoints"):
        found = sorted(str(file) for file in place.glob("*.ckpt"))
        if found:
            rest = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
            return "; there are:\n  " + "\n  ".join(found[:SHOWN] + rest)
    return ""
