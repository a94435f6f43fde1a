"""What every section of a run's configuration has in common."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A group of keys: typed, frozen, and without room for a key that nobody reads.

    Strict: text is never taken for a number or a truth value, so ``flag=no`` and ``rate=abc`` are
    mistakes and not surprises. A whole number may stand where a real one is expected; infinity and
    "not a number" may not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
