"""How to search, and which ids are special."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from latimer.errors import LatimerError

LengthPenalty = float | Literal["average"]
"""α of ((5 + L) / 6)^α, or the division by L."""


@dataclass(frozen=True, kw_only=True)
class LengthSettings:
    """How long a hypothesis may be, in every way of decoding.

    Attributes:
        max_length_factor: a; a hypothesis has at most a · source pieces + b pieces, neither
            counting eos.
        max_length_offset: b.
        min_length: fewest pieces of a hypothesis; it may have fewer where none may come next.
        max_length: most pieces of a hypothesis whatever its source, for models with a fixed number
            of positions; None for no such limit.

    Raises:
        LatimerError: naming every value out of its range.
    """

    max_length_factor: float = 1.0
    max_length_offset: int = 50
    min_length: int = 1
    max_length: int | None = None

    def __post_init__(self) -> None:
        mistakes = [message for holds, message in self._demands() if not holds]
        if mistakes:
            raise LatimerError("\n".join(mistakes))

    def _demands(self) -> list[tuple[bool, str]]:
        """What must hold, and what to say where it does not."""
        longest = self.max_length_factor + self.max_length_offset
        return [
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


@dataclass(frozen=True, kw_only=True)
class SearchSettings(LengthSettings):
    """How to search; the defaults are the paper's (section 6.1). Beam 1 is greedy search.

    Attributes:
        beam_size: K, the prefixes that are followed at a time.
        length_penalty: α of ((5 + L) / 6)^α, by which log-probabilities are divided, with L pieces,
            eos included; 0 compares plain log-probabilities, and "average" divides by L.
        coverage_penalty: β of the coverage penalty (see :mod:`latimer.decoding.coverage`), added
            when a hypothesis ends; 0 for none.
        no_repeat_ngram: n; no n pieces stand twice in a hypothesis; 0 allows all.
        beam_groups: G, groups that the beam is divided into (Vijayakumar et al., 2018, arXiv
            1610.02424); 1 is plain beam search.
        diversity_penalty: λ, taken from a piece's log-probability for each beam of an earlier group
            that has chosen it at this step; it decides what goes on, and is in no score.
        n_best: N, hypotheses wanted a sentence.

    Raises:
        LatimerError: naming every value out of its range.
    """

    method: ClassVar[str] = "beam"
    beam_size: int = 4
    length_penalty: LengthPenalty = 0.6
    coverage_penalty: float = 0.0
    no_repeat_ngram: int = 0
    beam_groups: int = 1
    diversity_penalty: float = 0.0
    n_best: int = 1

    @property
    def width(self) -> int:
        """The prefixes of a sentence that are followed at a time."""
        return self.beam_size

    @property
    def described(self) -> str:
        """What a reader of scores must know of it: the beam, and all that is added to it."""
        words = [
            (True, f"beam {self.beam_size}"),
            (True, f"length penalty {self.length_penalty}"),
            (self.coverage_penalty, f"coverage penalty {self.coverage_penalty}"),
            (self.no_repeat_ngram, f"no repeated {self.no_repeat_ngram}-gram"),
            (self.diversity_penalty, f"{self.beam_groups} groups {self.diversity_penalty} apart"),
        ]
        return ", ".join(word for told, word in words if told)

    def _demands(self) -> list[tuple[bool, str]]:
        alpha, diversity, groups = self.length_penalty, self.diversity_penalty, self.beam_groups
        return [
            (self.beam_size >= 1, f"beam_size: {self.beam_size} is less than 1"),
            (
                1 <= self.n_best <= max(self.beam_size, 1),
                f"n_best: {self.n_best} is not between 1 and beam_size ({self.beam_size})",
            ),
            (
                alpha == "average" or (not isinstance(alpha, str) and 0 <= alpha < math.inf),
                f"length_penalty: {alpha} is neither a number of at least 0 nor average",
            ),
            (
                0 <= self.coverage_penalty < math.inf,
                f"coverage_penalty: {self.coverage_penalty} is not a number of at least 0",
            ),
            (self.no_repeat_ngram >= 0, f"no_repeat_ngram: {self.no_repeat_ngram} is less than 0"),
            (
                groups >= 1 and self.beam_size % groups == 0,
                f"beam_groups: {groups} does not divide beam_size ({self.beam_size})",
            ),
            (
                0 < diversity < math.inf if groups > 1 else diversity == 0,
                f"diversity_penalty: {diversity} does not go with beam_groups ({groups}): it is "
                "greater than 0 with several groups, and 0 with one",
            ),
            *super()._demands(),
        ]


@dataclass(frozen=True, kw_only=True)
class SamplingSettings(LengthSettings):
    """How to draw samples; the defaults draw with the model's own probabilities.

    Attributes:
        samples: K, samples of a sentence.
        temperature: divides the logits; the nearer to 0, the likelier the most probable piece.
        top_k: only so many of the most probable pieces are drawn from; 0 for all.
        top_p: p; only the smallest set of the most probable pieces that has this probability is
            drawn from (Holtzman et al., 2020, arXiv 1904.09751); 1 for all.
        seed: another one draws other samples.

    Raises:
        LatimerError: naming every value out of its range.
    """

    method: ClassVar[str] = "sampling"
    samples: int = 1
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1

    @property
    def width(self) -> int:
        """The samples of a sentence that are followed at a time."""
        return self.samples

    @property
    def described(self) -> str:
        """What a reader of scores must know of it."""
        words = [
            (True, f"samples {self.samples}"),
            (True, f"temperature {self.temperature:g}"),
            (self.top_k, f"top-k {self.top_k}"),
            (self.top_p < 1, f"top-p {self.top_p:g}"),
            (True, f"seed {self.seed}"),
        ]
        return ", ".join(word for told, word in words if told)

    def _demands(self) -> list[tuple[bool, str]]:
        return [
            (self.samples >= 1, f"samples: {self.samples} is less than 1"),
            (
                0 < self.temperature < math.inf,
                f"temperature: {self.temperature} is not a number greater than 0",
            ),
            (self.top_k >= 0, f"top_k: {self.top_k} is less than 0"),
            (0 < self.top_p <= 1, f"top_p: {self.top_p} is not greater than 0 and at most 1"),
            *super()._demands(),
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
