"""The optimizer (section 5.3 of the paper)."""

from typing import Literal

from pydantic import Field

from latimer.config.base import Section


class AdamConfig(Section):
    """Adam; its rate is the schedule's.

    Attributes:
        kind: which optimizer.
        beta1: decay of the running mean of the gradient, per update.
        beta2: decay of the running mean of its square, per update.
        epsilon: added to the divisor.
    """

    kind: Literal["adam"]
    beta1: float = Field(ge=0, lt=1)
    beta2: float = Field(ge=0, lt=1)
    epsilon: float = Field(gt=0)
