"""What tables call the systems of an evaluation."""

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path


def short_names(paths: Sequence[Path]) -> list[str]:
    """What tells checkpoints apart: their paths without what all of them begin and end with.

    So ``runs/a/2026-01-31/checkpoints/best.ckpt`` and ``runs/b/2026-02-01/checkpoints/best.ckpt``
    are ``a/2026-01-31`` and ``b/2026-02-01``; two of one run are called as their files are, and so
    is a single one. Different paths have different names.
    """
    parts = [[*path.absolute().parts] for path in paths]
    if len(paths) == 1:
        return [paths[0].name]
    if all(path.parent.name == "checkpoints" for path in paths):
        parts = [[*folders[:-2], folders[-1]] for folders in parts]
    begin = _shared(parts)
    # A name has a part at least: where one path is the beginning of another one, its end stays.
    shortest = min(len(folders) for folders in parts) - begin
    end = min(_shared([folders[::-1] for folders in parts]), shortest - 1)
    return ["/".join(folders[begin : len(folders) - end]) for folders in parts]


def _shared(parts: Sequence[Sequence[str]]) -> int:
    """How many parts all begin with."""
    columns = zip(*parts, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
