"""The optimizer (section 5.3)."""

from collections.abc import Iterable

import torch
from torch import nn

from latimer.config.optimizer import AdamConfig


def make_optimizer(parameters: Iterable[nn.Parameter], config: AdamConfig) -> torch.optim.Adam:
    """Adam with the paper's β₁, β₂ and ε by default; the schedule multiplies its rate of 1."""
    return torch.optim.Adam(
        parameters,
        lr=1.0,
        betas=(config.beta1, config.beta2),
        eps=config.epsilon,
        fused=True,
    )
