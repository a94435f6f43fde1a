"""One more name for a checkpoint that is on the disk already."""

import os
import shutil
from pathlib import Path

from latimer.errors import LatimerError


def name_too(checkpoint: Path, name: Path) -> None:
    """Lets a checkpoint be found under another name too, in place of what had that name before.

    Both names are real files: to delete or to replace one leaves the other as it is. Where the disk
    has hard links this takes no time and no space, since checkpoints are replaced as a whole and
    never changed; elsewhere it makes a copy. A reader finds the old file or the new one.

    Raises:
        LatimerError: the disk is full or cannot be written to.
    """
    aside = name.with_name(f".{name.name}.part")
    try:
        aside.unlink(missing_ok=True)
        try:
            os.link(checkpoint, aside)
        except OSError:
            _copy(checkpoint, aside)
        aside.replace(name)
    except OSError as error:
        raise LatimerError(f"{name}: not written ({error.strerror})") from error
    finally:
        # A renaming onto another link of the same file does nothing.
        aside.unlink(missing_ok=True)


def _copy(checkpoint: Path, aside: Path) -> None:
    with checkpoint.open("rb") as source, aside.open("wb") as copy:
        shutil.copyfileobj(source, copy)
        copy.flush()
        os.fsync(copy.fileno())
