"""The optimizer (section 5.3)."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from latimer.config.optimizer import (
    AdafactorConfig,
    AdamConfig,
    AdamWConfig,
    MuonConfig,
    OptimizerConfig,
)
from latimer.training.muon import Muon

# The schedule's lambda multiplies it.
RATE = 1.0


def make_optimizer(
    named_parameters: Iterable[tuple[str, nn.Parameter]],
    config: OptimizerConfig,
    products: torch.dtype = torch.float32,
) -> Optimizer:
    """The optimizer of a configuration, at a rate of 1 for the schedule to multiply.

    What is frozen is left out, and gets no state. ``products`` is the precision of Muon's matrix
    products; all other numbers of an optimizer are float32.
    """
    named = {name: one for name, one in named_parameters if one.requires_grad}
    trained = list(named.values())
    match config:
        case AdamConfig():
            return torch.optim.Adam(trained, **_moments(config))
        case AdamWConfig():
            groups = _decay_groups(trained, config.weight_decay)
            return torch.optim.AdamW(groups, **_moments(config))
        case AdafactorConfig():
            return torch.optim.Adafactor(
                _decay_groups(trained, config.weight_decay),
                lr=RATE,
                beta2_decay=config.beta2_decay,
                eps=(config.epsilon, config.smallest_size),
                d=config.largest_step,
            )
        case MuonConfig():
            matrices = {name for name, one in named.items() if ".layers." in name and one.dim() > 1}
            return Muon(
                [one for name, one in named.items() if name in matrices],
                [one for name, one in named.items() if name not in matrices],
                momentum=config.momentum,
                weight_decay=config.weight_decay,
                products=products,
                **_moments(config),
            )


def _moments(config: AdamConfig | AdamWConfig | MuonConfig) -> dict[str, Any]:
    betas = (config.beta1, config.beta2)
    return {"lr": RATE, "betas": betas, "eps": config.epsilon, "fused": True}


def _decay_groups(trained: list[nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    """Weight decay leaves alone what has one dimension: norms and biases."""
    matrices = [parameter for parameter in trained if parameter.dim() > 1]
    vectors = [parameter for parameter in trained if parameter.dim() <= 1]
    groups = [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]
