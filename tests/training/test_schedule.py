"""The rate of the n-th optimizer update, n from 1 (section 5.3, field cases 56 to 58)."""

from itertools import pairwise

import pytest
import torch

from latimer.config.schedule import InverseSquareRootSchedule, PaperSchedule
from latimer.training.schedule import (
    inverse_square_root_rate,
    learning_rate,
    make_scheduler,
    paper_rate,
)

PAPER = PaperSchedule(kind="paper", warmup_updates=10, factor=1.0)
INVERSE = InverseSquareRootSchedule(kind="inverse_square_root", warmup_updates=10, rate=0.005)
every_schedule = pytest.mark.parametrize("schedule", [PAPER, INVERSE], ids=lambda s: s.kind)


@pytest.mark.parametrize(
    ("update", "rate"),
    [(1, 1.746928e-07), (100, 1.746928e-05), (4000, 6.987712e-04), (16000, 3.493856e-04)],
)
def test_the_values_of_the_paper(update, rate):
    assert paper_rate(update, 512, 4000) == pytest.approx(rate, rel=1e-6)
    assert paper_rate(update, 512, 4000, factor=2.0) == pytest.approx(2 * rate, rel=1e-6)
    assert paper_rate(update, 128, 4000) == pytest.approx(2 * rate, rel=1e-6)


@pytest.mark.parametrize(
    ("update", "rate"), [(1, 2.5e-06), (1000, 2.5e-03), (2000, 5e-03), (8000, 2.5e-03)]
)
def test_the_inverse_square_root_peaks_at_its_rate(update, rate):
    assert inverse_square_root_rate(update, 2000, 5e-3) == pytest.approx(rate, rel=1e-9)


@every_schedule
def test_up_during_warm_up_and_down_afterwards(schedule):
    # field case 57: no rate of 0, and no two updates of warm-up that share a rate
    rates = [learning_rate(schedule, update, 512) for update in range(1, 41)]
    assert rates[0] > 0
    assert all(before < after for before, after in pairwise(rates[:10]))
    assert all(before > after for before, after in pairwise(rates[9:]))
    assert rates[39] == pytest.approx(rates[9] / 2)


@pytest.mark.parametrize("warmup", [1, 10, 4000])
def test_the_two_schedules_differ_by_a_factor_alone(warmup):
    peak = paper_rate(warmup, 512, warmup)
    for update in (1, 2, 9, 10, 11, 3999, 4000, 4001, 100_000):
        expected = paper_rate(update, 512, warmup)
        assert inverse_square_root_rate(update, warmup, peak) == pytest.approx(expected)


def test_without_warm_up_the_first_update_has_the_peak():
    # field case 57
    assert paper_rate(1, 512, 0) == 512**-0.5
    assert inverse_square_root_rate(1, 0, 0.005) == 0.005
    for rate_of in (lambda n: paper_rate(n, 512, 0), lambda n: inverse_square_root_rate(n, 0, 1.0)):
        rates = [rate_of(update) for update in (1, 4, 16)]
        assert rates == pytest.approx([rates[0], rates[0] / 2, rates[0] / 4])


@every_schedule
def test_the_optimizer_has_the_rate_of_the_update_that_comes(schedule):
    # field cases 57 and 58: 20 updates, 20 rates, the first of them formula(1)
    optimizer = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = make_scheduler(optimizer, schedule, 512)
    rates = []
    for _ in range(20):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert rates == [learning_rate(schedule, update, 512) for update in range(1, 21)]


@every_schedule
def test_a_resumed_scheduler_goes_on_where_the_first_one_stopped(schedule):
    def start():
        optimizer = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        return optimizer, make_scheduler(optimizer, schedule, 512)

    optimizer, scheduler = start()
    for _ in range(7):
        optimizer.step()
        scheduler.step()
    resumed, resumed_scheduler = start()
    resumed.load_state_dict(optimizer.state_dict())
    resumed_scheduler.load_state_dict(scheduler.state_dict())
    assert resumed.param_groups[0]["lr"] == learning_rate(schedule, 8, 512)
    resumed.step()
    resumed_scheduler.step()
    assert resumed.param_groups[0]["lr"] == learning_rate(schedule, 9, 512)
