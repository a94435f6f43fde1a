"""The learning rate over the optimizer updates.

Each schedule has its own keys: one that the chosen schedule doesn't use is a mistake, so a factor
is never taken for a rate.
"""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from latimer.config.base import Section


class PaperSchedule(Section):
    """factor · D^-0.5 · min(n^-0.5, n · warmup^-1.5) at update n (section 5.3, equation 3).

    Attributes:
        kind: which schedule.
        warmup_updates: updates until the peak; 0 starts there.
        factor: multiplies the formula. It is no rate.
    """

    kind: Literal["paper"]
    warmup_updates: int = Field(ge=0)
    factor: float = Field(gt=0)


class InverseSquareRootSchedule(Section):
    """Up in a straight line to the peak, then down with the square root of the updates.

    Attributes:
        kind: which schedule.
        warmup_updates: updates until the peak; 0 starts there.
        rate: the peak.
    """

    kind: Literal["inverse_square_root"]
    warmup_updates: int = Field(ge=0)
    rate: float = Field(gt=0)


class ConstantSchedule(Section):
    """Up in a straight line to the rate, and there it stays.

    Attributes:
        kind: which schedule.
        warmup_updates: updates until the rate; 0 starts there.
        rate: the rate.
    """

    kind: Literal["constant"]
    warmup_updates: int = Field(ge=0)
    rate: float = Field(gt=0)


class _Decay(Section):
    """Up in a straight line to the peak, then down to ``final_rate``, and there it stays.

    Attributes:
        warmup_updates: updates until the peak; 0 starts there.
        rate: the peak.
        decay_updates: the update at which the final rate is reached; counted from the first one.
        final_rate: the rate from there on.
    """

    warmup_updates: int = Field(ge=0)
    rate: float = Field(gt=0)
    decay_updates: int = Field(ge=1)
    final_rate: float = Field(ge=0)

    @field_validator("decay_updates", mode="before")
    @classmethod
    def _has_an_end(cls, decay_updates: object) -> object:
        if decay_updates is None:
            raise ValueError(
                "must be a number of updates, since trainer.max_updates, which it is unless given, "
                "is null"
            )
        return decay_updates

    @field_validator("decay_updates")
    @classmethod
    def _follows_warm_up(cls, decay_updates: int, before: ValidationInfo) -> int:
        warmup = before.data.get("warmup_updates", 0)
        if decay_updates <= warmup:
            raise ValueError(f"must be more than warmup_updates={warmup}, after which it begins")
        return decay_updates

    @field_validator("final_rate")
    @classmethod
    def _is_below_the_peak(cls, final_rate: float, before: ValidationInfo) -> float:
        peak = before.data.get("rate", final_rate)
        if final_rate > peak:
            raise ValueError(f"must be at most rate={peak}, the peak")
        return final_rate


class LinearSchedule(_Decay):
    """Down in a straight line."""

    kind: Literal["linear"]


class CosineSchedule(_Decay):
    """Down along half a cosine (Loshchilov and Hutter, 2017)."""

    kind: Literal["cosine"]


ScheduleConfig = Annotated[
    PaperSchedule | InverseSquareRootSchedule | ConstantSchedule | LinearSchedule | CosineSchedule,
    Field(discriminator="kind"),
]
