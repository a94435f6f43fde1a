"""The learning rate over the optimizer updates.

Each schedule has its own keys: one that the chosen schedule doesn't use is a mistake, so a factor
is never taken for a rate.
"""

from typing import Annotated, Literal

from pydantic import Field

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


ScheduleConfig = Annotated[PaperSchedule | InverseSquareRootSchedule, Field(discriminator="kind")]
