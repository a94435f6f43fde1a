"""The beam search, and changes to it when a checkpoint is evaluated (section 6.1 of the paper)."""

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from latimer.config.base import Section
from latimer.config.check import check

Count = Annotated[int, Field(ge=1)]
CountFromZero = Annotated[int, Field(ge=0)]
Factor = Annotated[float, Field(ge=0)]


class DecodingConfig(Section):
    """How hypotheses are searched for; a beam of 1 is greedy.

    Attributes:
        beam_size: K, hypotheses followed at a time.
        length_penalty: α of ((5 + L) / 6)^α with L pieces, eos included; 0 for none.
        max_length_factor: a of the limit a · source pieces + b, neither side counting eos.
        max_length_offset: b of the same.
        min_length: fewest pieces before eos.
        n_best: hypotheses kept for each sentence.
        max_tokens: padded source cells of a batch times K.
    """

    beam_size: Count
    length_penalty: Factor
    max_length_factor: Factor
    max_length_offset: CountFromZero
    min_length: CountFromZero
    n_best: Count
    max_tokens: Count

    @field_validator("max_length_offset")
    @classmethod
    def _leaves_room(cls, offset: int, before: ValidationInfo) -> int:
        if offset == 0 and before.data.get("max_length_factor") == 0:
            raise ValueError("must be at least 1 with max_length_factor=0")
        return offset

    @field_validator("n_best")
    @classmethod
    def _comes_out_of_the_beam(cls, n_best: int, before: ValidationInfo) -> int:
        beam_size = before.data.get("beam_size", n_best)
        if n_best > beam_size:
            raise ValueError(f"must be at most beam_size={beam_size}")
        return n_best


class DecodingChanges(Section):
    """The keys of :class:`DecodingConfig`; None leaves one as the checkpoint was trained with."""

    beam_size: Count | None
    length_penalty: Factor | None
    max_length_factor: Factor | None
    max_length_offset: CountFromZero | None
    min_length: CountFromZero | None
    n_best: Count | None
    max_tokens: Count | None

    def applied_to(self, trained: DecodingConfig) -> DecodingConfig:
        """The settings that were trained with, changed.

        Raises:
            LatimerError: the two together make no sense, such as more hypotheses than beams.
        """
        changes = self.model_dump(exclude_none=True)
        return check({**trained.model_dump(), **changes}, DecodingConfig)
