"""The optimizer (section 5.3 of the paper); its rate is the schedule's.

Each optimizer has its own keys: one that the chosen optimizer doesn't use is a mistake.
"""

from typing import Annotated, Literal

from pydantic import Field

from latimer.config.base import Section

SMALLEST_EPSILON = 1e-18  # whose square is still a float32: a gradient of 0 is divided by it


class AdamConfig(Section):
    """Adam.

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


class AdamWConfig(Section):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    Attributes:
        kind: which optimizer.
        beta1: decay of the running mean of the gradient, per update.
        beta2: decay of the running mean of its square, per update.
        epsilon: added to the divisor.
        weight_decay: share of a weight that goes per update, times the rate; not of norms and
            biases.
    """

    kind: Literal["adamw"]
    beta1: float = Field(ge=0, lt=1)
    beta2: float = Field(ge=0, lt=1)
    epsilon: float = Field(gt=0)
    weight_decay: float = Field(ge=0)


class AdafactorConfig(Section):
    """Adafactor (Shazeer and Stern, 2018): a matrix's squares are kept as its rows and columns.

    The schedule's rate is a share of the weights' size here, and at update n at most n^-0.5.

    Attributes:
        kind: which optimizer.
        beta2_decay: the running mean of the gradient's square takes in n to this power at update n.
        epsilon: the smallest divisor of a gradient; its square is the paper's first epsilon.
        smallest_size: root mean square that weights have at least when the rate is made a step.
        largest_step: largest root mean square of a step, in rates; a longer one is shortened.
        weight_decay: share of a weight that goes per update, times the rate; not of norms and
            biases.
    """

    kind: Literal["adafactor"]
    beta2_decay: float = Field(ge=-1, le=0)
    epsilon: float = Field(ge=SMALLEST_EPSILON)
    smallest_size: float = Field(ge=0)
    largest_step: float = Field(ge=1)
    weight_decay: float = Field(ge=0)


class MuonConfig(Section):
    """Muon (Jordan et al., 2024) for the matrices of the layers, Adam for everything else.

    Attributes:
        kind: which optimizer.
        momentum: decay of the running mean of a matrix's gradient, per update.
        weight_decay: share of such a matrix that goes per update, times the rate.
        beta1: Adam's decay of the running mean of the gradient, per update.
        beta2: Adam's decay of the running mean of its square, per update.
        epsilon: added to Adam's divisor.
    """

    kind: Literal["muon"]
    momentum: float = Field(ge=0, lt=1)
    weight_decay: float = Field(ge=0)
    beta1: float = Field(ge=0, lt=1)
    beta2: float = Field(ge=0, lt=1)
    epsilon: float = Field(gt=0)


OptimizerConfig = Annotated[
    AdamConfig | AdamWConfig | AdafactorConfig | MuonConfig, Field(discriminator="kind")
]
