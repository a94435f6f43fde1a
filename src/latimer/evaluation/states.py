"""Which states of a run an average is made of."""

from pathlib import Path

from latimer.checkpoint import find_checkpoint, read_checkpoint
from latimer.config.training import lower_is_better
from latimer.errors import LatimerError


def to_be_averaged(run: Path, wanted: int, which: str) -> list[Path]:
    """The files whose mean is asked for, oldest first.

    Args:
        run: the folder of a run.
        wanted: how many.
        which: "newest" or "best".

    Raises:
        LatimerError: ``run`` is a file, or it has fewer states of that kind.
    """
    run = run.expanduser()
    if run.is_file():
        raise LatimerError(
            f"average={wanted}: checkpoint={run} is a file; write the folder of a run, which holds "
            "the checkpoints that are to be averaged"
        )
    folder = find_checkpoint(run).parent
    found = _ranked(folder, which)
    kind = {"newest": "step_*.ckpt", "best": "best_*.ckpt"}[which]
    if len(found) < wanted:
        instead = f"; write average={len(found)}, or" if len(found) > 1 else ", and an average"
        instead += " takes two or more;" if len(found) < 2 else ""
        raise LatimerError(
            f"average={wanted}: {folder} has {len(found)} {kind}{instead} "
            f"train with checkpoints.{which}={wanted}"
        )
    return sorted(found[:wanted])


def _ranked(folder: Path, which: str) -> list[Path]:
    """The newest first, or the best first by the score that the run monitored."""
    if which == "newest":
        return sorted(folder.glob("step_*.ckpt"), reverse=True)
    return sorted(sorted(folder.glob("best_*.ckpt")), key=_merit, reverse=True)


def _merit(path: Path) -> float:
    about = read_checkpoint(path)["latimer"]
    monitor = about["config"]["checkpoints"]["monitor"]
    score: float = about["scores"][monitor]
    return -score if lower_is_better(monitor) else score
