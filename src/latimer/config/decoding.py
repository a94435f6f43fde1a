"""How text is found: the beam search of section 6.1 of the paper, or a choice among samples.

Each method has its own keys: one that the chosen method doesn't use is a mistake. When a checkpoint
is evaluated, single keys may change.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from latimer.config.base import Section
from latimer.config.check import check
from latimer.errors import LatimerError

Count = Annotated[int, Field(ge=1)]
CountFromZero = Annotated[int, Field(ge=0)]
Factor = Annotated[float, Field(ge=0)]


def _check_length_penalty(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value != "average" and not (number and 0 <= value < math.inf):
        raise ValueError("must be a number of at least 0, or average")
    return value


LengthPenalty = Annotated[float | Literal["average"], BeforeValidator(_check_length_penalty)]
Temperature = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(gt=0, le=1)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Utility = Literal["chrf", "bleu"]


class _Lengths(Section):
    """How long a translation may be, and how many are made together.

    Attributes:
        max_length_factor: a of the limit a · source pieces + b, neither side counting eos.
        max_length_offset: b of the same.
        min_length: fewest pieces before eos.
        max_tokens: padded source cells of a batch, with 16 a sentence at least, times the
            hypotheses of a sentence that are followed at a time.
    """

    max_length_factor: Factor
    max_length_offset: CountFromZero
    min_length: CountFromZero
    max_tokens: Count

    @field_validator("max_length_offset")
    @classmethod
    def _leaves_room(cls, offset: int, before: ValidationInfo) -> int:
        if offset == 0 and before.data.get("max_length_factor") == 0:
            raise ValueError("must be at least 1 with max_length_factor=0")
        return offset


class DecodingConfig(_Lengths):
    """How hypotheses are searched for; a beam of 1 is greedy.

    Attributes:
        method: which way of decoding.
        beam_size: K, hypotheses followed at a time.
        length_penalty: α of ((5 + L) / 6)^α with L pieces, eos included; 0 for none; or "average"
            for a division by L.
        coverage_penalty: β of the coverage penalty; 0 for none.
        no_repeat_ngram: n; no n pieces stand twice in a translation; 0 allows all.
        beam_groups: G, groups of the beam that shun what the earlier ones choose.
        diversity_penalty: by how much they do.
        n_best: hypotheses kept for each sentence.
    """

    method: Literal["beam"]
    beam_size: Count
    length_penalty: LengthPenalty
    coverage_penalty: Factor
    no_repeat_ngram: CountFromZero
    beam_groups: Count
    diversity_penalty: Factor
    n_best: Count

    @field_validator("beam_groups")
    @classmethod
    def _divide_the_beam(cls, beam_groups: int, before: ValidationInfo) -> int:
        beam_size = before.data.get("beam_size", beam_groups)
        if beam_size % beam_groups:
            raise ValueError(f"must divide beam_size={beam_size}")
        return beam_groups

    @field_validator("diversity_penalty")
    @classmethod
    def _is_between_groups(cls, diversity_penalty: float, before: ValidationInfo) -> float:
        groups = before.data.get("beam_groups")
        if groups == 1 and diversity_penalty:
            raise ValueError("must be 0 with beam_groups=1")
        if groups is not None and groups > 1 and not diversity_penalty:
            raise ValueError(f"must be greater than 0 with beam_groups={groups}")
        return diversity_penalty

    @field_validator("n_best")
    @classmethod
    def _comes_out_of_the_beam(cls, n_best: int, before: ValidationInfo) -> int:
        beam_size = before.data.get("beam_size", n_best)
        if n_best > beam_size:
            raise ValueError(f"must be at most beam_size={beam_size}")
        return n_best


class _Samples(_Lengths):
    """Texts that are drawn with the model's probabilities.

    Attributes:
        samples: texts drawn for each sentence.
        temperature: divides the logits; below 1 the probable becomes more probable.
        top_k: most pieces that one is drawn from; 0 for all.
        top_p: the most probable pieces that together reach this probability are drawn from.
        seed: of the draws.
    """

    samples: Count
    temperature: Temperature
    top_k: CountFromZero
    top_p: Share
    seed: Seed


class SamplingConfig(_Samples):
    """The most probable of the samples; a single one is a fair draw."""

    method: Literal["sampling"]


class MinimumRiskConfig(_Samples):
    """The sample that is most like all samples (Kumar and Byrne, 2004; Eikema and Aziz, 2020).

    Attributes:
        method: which way of decoding.
        utility: the score that tells how like another a sample is.
    """

    method: Literal["minimum_risk"]
    utility: Utility


AnyDecodingConfig = Annotated[
    DecodingConfig | SamplingConfig | MinimumRiskConfig, Field(discriminator="method")
]
METHODS: dict[str, type[Section]] = {
    "beam": DecodingConfig,
    "sampling": SamplingConfig,
    "minimum_risk": MinimumRiskConfig,
}
WITHOUT_KEY: dict[str, Any] = {
    "method": "beam",
    "coverage_penalty": 0.0,
    "no_repeat_ngram": 0,
    "beam_groups": 1,
    "diversity_penalty": 0.0,
}
"""What a checkpoint meant that was made before there was such a key."""


class _Decoding(Section):
    """The section by its name, for mistakes to be told with it."""

    decoding: AnyDecodingConfig


def stored_decoding(stored: Mapping[str, Any]) -> AnyDecodingConfig:
    """The ``decoding`` section of a checkpoint, which may be older than some of the keys.

    Raises:
        LatimerError: it makes no sense.
    """
    section = METHODS.get(stored.get("method", "beam"), Section)
    added = {key: value for key, value in WITHOUT_KEY.items() if key in section.model_fields}
    return check({"decoding": {**added, **stored}}, _Decoding).decoding


class DecodingChanges(Section):
    """The keys of all methods; None leaves one as the checkpoint was trained with."""

    method: Literal["beam", "sampling", "minimum_risk"] | None
    beam_size: Count | None
    length_penalty: LengthPenalty | None
    coverage_penalty: Factor | None
    no_repeat_ngram: CountFromZero | None
    beam_groups: Count | None
    diversity_penalty: Factor | None
    n_best: Count | None
    samples: Count | None
    temperature: Temperature | None
    top_k: CountFromZero | None
    top_p: Share | None
    seed: Seed | None
    utility: Utility | None
    max_length_factor: Factor | None
    max_length_offset: CountFromZero | None
    min_length: CountFromZero | None
    max_tokens: Count | None

    def applied_to(self, trained: AnyDecodingConfig) -> AnyDecodingConfig:
        """The settings that were trained with, changed.

        Of another method's settings only those are taken that both have.

        Raises:
            LatimerError: the two together make no sense, such as more hypotheses than beams.
        """
        changes = {"method": trained.method, **self.model_dump(exclude_none=True)}
        known = METHODS[changes["method"]].model_fields
        kept = {key: value for key, value in trained.model_dump().items() if key in known}
        if missing := [key for key in known if key not in kept | changes]:
            raise LatimerError(
                f"decoding.method={changes['method']}: also needs {', '.join(missing)}; "
                f"decoding={changes['method']} brings them all"
            )
        return check({"decoding": {**kept, **changes}}, _Decoding).decoding
