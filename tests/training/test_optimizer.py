"""The optimizer is the paper's (section 5.3), with the values that it is told."""

import torch

from latimer.config.optimizer import AdamConfig
from latimer.training.optimizer import make_optimizer


def test_adam_has_the_values_of_the_configuration_and_nothing_else():
    config = AdamConfig(kind="adam", beta1=0.9, beta2=0.98, epsilon=1e-9)
    (group,) = make_optimizer([torch.nn.Parameter(torch.ones(3))], config).param_groups
    assert (group["betas"], group["eps"]) == ((0.9, 0.98), 1e-9)
    assert (group["lr"], group["weight_decay"], group["amsgrad"]) == (1.0, 0, False)


def test_the_first_update_is_as_large_as_the_rate_whatever_the_gradient():
    """Adam corrects its means for having started at zero."""
    config = AdamConfig(kind="adam", beta1=0.9, beta2=0.98, epsilon=1e-9)
    for gradient in (1e-4, 1.0, 1e4):
        weight = torch.nn.Parameter(torch.zeros(1))
        optimizer = make_optimizer([weight], config)
        weight.grad = torch.full((1,), gradient)
        optimizer.param_groups[0]["lr"] = 0.25
        optimizer.step()
        assert torch.allclose(weight, torch.tensor(-0.25), rtol=1e-4)
