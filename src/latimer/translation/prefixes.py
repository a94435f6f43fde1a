"""Beginnings of translations that a person gives, as the pieces that a model writes them with."""

from collections.abc import Sequence

from latimer.errors import LatimerError
from latimer.tokenizer import UNK_ID, Tokenizer


class PrefixError(LatimerError):
    """A beginning that the model cannot write.

    Attributes:
        row: which of those that were given, from 0.
        reason: why, and what to write instead.
    """

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"prefix {row + 1}: {reason}")
        self.row = row
        self.reason = reason


def encode_prefixes(
    prefixes: Sequence[str], tokenizer: Tokenizer, longest: int | None
) -> list[list[int]]:
    """The pieces of each prefix; none for an empty one.

    Args:
        prefixes: raw text, with or without line ends.
        tokenizer: of the target.
        longest: most pieces that the model can write; None for no such limit.

    Raises:
        PrefixError: one has characters that are in no piece, or is too long.
    """
    encoded = tokenizer.encode_batch([prefix.rstrip("\r\n") for prefix in prefixes])
    for row, (prefix, ids) in enumerate(zip(prefixes, encoded, strict=True)):
        if UNK_ID in ids:
            raise PrefixError(
                row,
                f"{prefix!r} has characters that are in no piece of the target's tokenizer; "
                "write it without them",
            )
        if longest is not None and len(ids) > longest:
            raise PrefixError(
                row,
                f"it has {len(ids)} pieces, and the model can write no more than {longest}; "
                "write a shorter one",
            )
    return encoded
