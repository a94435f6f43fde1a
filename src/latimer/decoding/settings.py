"""How to search, and which ids are special."""

from dataclasses import dataclass

from latimer.errors import LatimerError


@dataclass(frozen=True)
class SearchSettings:
    """How to search; the defaults are the paper's (section 6.1). Beam 1 is greedy search.

    Attributes:
        beam_size: K, the prefixes that are followed at a time.
        length_penalty: α of ((5 + L) / 6)^α; 0 compares plain log-probabilities.
        max_length_factor: a; a hypothesis has at most a · source pieces + b pieces, neither
            counting eos.
        max_length_offset: b.
        min_length: fewest pieces of a hypothesis.
        n_best: N, hypotheses wanted a sentence.
        max_length: most pieces of a hypothesis whatever its source, for models with a fixed number
            of positions; None for no such limit.

    Raises:
        LatimerError: naming every value out of its range.
    """

    beam_size: int = 4
    length_penalty: float = 0.6
    max_length_factor: float = 1.0
    max_length_offset: int = 50
    min_length: int = 1
    n_best: int = 1
    max_length: int | None = None

    def __post_init__(self) -> None:
        mistakes = [message for holds, message in self._demands() if not holds]
        if mistakes:
            raise LatimerError("\n".join(mistakes))

    def _demands(self) -> list[tuple[bool, str]]:
        """What must hold, and what to say where it does not."""
        longest = self.max_length_factor + self.max_length_offset
        return [
            (self.beam_size >= 1, f"beam_size: {self.beam_size} is less than 1"),
            (
                1 <= self.n_best <= max(self.beam_size, 1),
                f"n_best: {self.n_best} is not between 1 and beam_size ({self.beam_size})",
            ),
            (self.length_penalty >= 0, f"length_penalty: {self.length_penalty} is less than 0"),
            (self.min_length >= 0, f"min_length: {self.min_length} is less than 0"),
            (
                self.max_length_factor >= 0 and self.max_length_offset >= 0 and longest > 0,
                "max_length_factor and max_length_offset: at least one must be greater than 0 and "
                f"neither less, not {self.max_length_factor} and {self.max_length_offset}",
            ),
            (
                self.max_length is None or self.max_length >= max(self.min_length, 1),
                f"max_length: {self.max_length} is less than 1 or than min_length "
                f"({self.min_length})",
            ),
        ]


@dataclass(frozen=True)
class SpecialIds:
    """The ids that are no pieces of text; the defaults are those of :mod:`latimer.tokenizer`."""

    pad: int = 0
    unk: int = 1
    bos: int = 2
    eos: int = 3

    @property
    def forbidden(self) -> tuple[int, ...]:
        """The ids that no hypothesis holds."""
        return (self.pad, self.unk, self.bos)
