"""Learning rates, as functions of the number of optimizer updates (section 5.3)."""

import math

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from latimer.config.schedule import (
    ConstantSchedule,
    CosineSchedule,
    InverseSquareRootSchedule,
    LinearSchedule,
    PaperSchedule,
)

Schedule = (
    PaperSchedule | InverseSquareRootSchedule | ConstantSchedule | LinearSchedule | CosineSchedule
)


def learning_rate(schedule: Schedule, update: int, d_model: int) -> float:
    """The rate of the ``update``-th optimizer update; the first is number 1."""
    match schedule:
        case PaperSchedule():
            return paper_rate(update, d_model, schedule.warmup_updates, schedule.factor)
        case InverseSquareRootSchedule():
            return inverse_square_root_rate(update, schedule.warmup_updates, schedule.rate)
        case _ if update < schedule.warmup_updates:
            return schedule.rate * update / schedule.warmup_updates
        case ConstantSchedule():
            return schedule.rate
        case LinearSchedule() | CosineSchedule():
            return decayed_rate(schedule, update)


def decayed_rate(schedule: LinearSchedule | CosineSchedule, update: int) -> float:
    """From the peak at the end of warm-up to ``final_rate`` at update ``decay_updates``."""
    way = schedule.decay_updates - schedule.warmup_updates
    done = min((update - schedule.warmup_updates) / way, 1.0)
    left = (
        1.0 - done if isinstance(schedule, LinearSchedule) else (1.0 + math.cos(math.pi * done)) / 2
    )
    return schedule.final_rate + (schedule.rate - schedule.final_rate) * left


def paper_rate(update: int, d_model: int, warmup_updates: int, factor: float = 1.0) -> float:
    """The rate factor · D^-0.5 · min(n^-0.5, n · warmup^-1.5) (section 5.3, equation 3)."""
    warm_up = update * warmup_updates**-1.5 if warmup_updates else float("inf")
    rate: float = factor * d_model**-0.5 * min(update**-0.5, warm_up)
    return rate


def inverse_square_root_rate(update: int, warmup_updates: int, rate: float) -> float:
    """Up in a straight line to the peak ``rate``, then down with the square root of updates."""
    if update < warmup_updates:
        return rate * update / warmup_updates
    return rate * math.sqrt(max(warmup_updates, 1) / update)


def make_scheduler(optimizer: Optimizer, schedule: Schedule, d_model: int) -> LambdaLR:
    """PyTorch's scheduler, to be stepped after every update; the optimizer's own rate must be 1."""
    # PyTorch counts the updates that lie behind; the formulas count the one that comes.
    return LambdaLR(optimizer, lambda done: learning_rate(schedule, done + 1, d_model))
