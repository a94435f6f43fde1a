"""What every section of a run's configuration has in common."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


class Section(BaseModel):
    """A group of keys: typed, frozen, and without room for a key that nobody reads.

    Strict: text is never taken for a number or a truth value, so ``flag=no`` and ``rate=abc`` are
    mistakes and not surprises. A whole number may stand where a real one is expected; infinity and
    "not a number" may not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _check_folder_name(name: str) -> str:
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise ValueError("is a folder's name: letters, digits, '_', '-' and '.'")
    return name


FolderName = Annotated[str, AfterValidator(_check_folder_name)]
"""What a run or a test set is called: its files get a folder of that name."""
