"""The rate of the n-th optimizer update, n from 1 (section 5.3, field cases 56 to 58)."""

from itertools import pairwise
from pathlib import Path

import pytest
import torch

from latimer.config.schedule import (
    ConstantSchedule,
    CosineSchedule,
    InverseSquareRootSchedule,
    LinearSchedule,
    PaperSchedule,
)
from latimer.data.prepared import prepare
from latimer.training.schedule import (
    inverse_square_root_rate,
    learning_rate,
    make_scheduler,
    paper_rate,
)
from latimer.training.trainer import make_loaders

PEAK = {"warmup_updates": 10, "rate": 0.008}
DECAY = {**PEAK, "decay_updates": 50, "final_rate": 0.0}
PAPER = PaperSchedule(kind="paper", warmup_updates=10, factor=1.0)
INVERSE = InverseSquareRootSchedule(kind="inverse_square_root", **PEAK)
CONSTANT = ConstantSchedule(kind="constant", **PEAK)
LINEAR = LinearSchedule(kind="linear", **DECAY)
COSINE = CosineSchedule(kind="cosine", **DECAY)
ALL = [PAPER, INVERSE, CONSTANT, LINEAR, COSINE]
every_schedule = pytest.mark.parametrize("schedule", ALL, ids=lambda s: s.kind)
every_decay = pytest.mark.parametrize("schedule", [LINEAR, COSINE], ids=lambda s: s.kind)


def rates_of(schedule, *updates):
    return [learning_rate(schedule, update, 512) for update in updates]


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
def test_a_straight_line_up_to_the_peak_and_never_up_again(schedule):
    # field case 57: no rate of 0, and no two updates of warm-up that share a rate
    rates = rates_of(schedule, *range(1, 61))
    assert rates[:10] == pytest.approx([rates[9] * update / 10 for update in range(1, 11)])
    assert all(before >= after for before, after in pairwise(rates[9:]))
    assert schedule is PAPER or rates[9] == 0.008


@pytest.mark.parametrize("schedule", [PAPER, INVERSE], ids=lambda s: s.kind)
def test_up_during_warm_up_and_down_afterwards(schedule):
    rates = rates_of(schedule, *range(1, 41))
    assert all(before < after for before, after in pairwise(rates[:10]))
    assert all(before > after for before, after in pairwise(rates[9:]))
    assert rates[39] == pytest.approx(rates[9] / 2)


def test_the_constant_rate_stays():
    assert set(rates_of(CONSTANT, 10, 11, 50, 10**6)) == {0.008}


@pytest.mark.parametrize(
    ("schedule", "shares"),
    [(LINEAR, [1.0, 0.75, 0.5, 0.25, 0.0]), (COSINE, [1.0, 0.853553, 0.5, 0.146447, 0.0])],
    ids=lambda s: getattr(s, "kind", ""),
)
@pytest.mark.parametrize("final_rate", [0.0, 0.002])
def test_a_quarter_half_and_three_quarters_of_the_way_down(schedule, shares, final_rate):
    schedule = schedule.model_copy(update={"final_rate": final_rate})
    expected = [final_rate + share * (0.008 - final_rate) for share in shares]
    assert rates_of(schedule, 10, 20, 30, 40, 50) == pytest.approx(expected, abs=1e-8)
    assert rates_of(schedule, 51, 10**6) == pytest.approx([final_rate] * 2, abs=1e-15)


@every_decay
def test_down_at_every_update_until_the_end(schedule):
    assert all(before > after for before, after in pairwise(rates_of(schedule, *range(10, 51))))


@every_schedule
def test_no_jump_at_the_peak(schedule):
    """With 1,000 times as many updates, neighbours differ by a thousandth as much."""
    many = {"warmup_updates": 10_000}
    many |= {"decay_updates": 50_000} if hasattr(schedule, "decay_updates") else {}
    before, peak, after = rates_of(schedule.model_copy(update=many), 9_999, 10_000, 10_001)
    assert before == pytest.approx(peak, rel=2e-4)
    assert after == pytest.approx(peak, rel=2e-4)


@pytest.mark.parametrize("warmup", [1, 10, 4000])
def test_the_two_schedules_differ_by_a_factor_alone(warmup):
    peak = paper_rate(warmup, 512, warmup)
    for update in (1, 2, 9, 10, 11, 3999, 4000, 4001, 100_000):
        expected = paper_rate(update, 512, warmup)
        assert inverse_square_root_rate(update, warmup, peak) == pytest.approx(expected)


@every_schedule
def test_without_warm_up_the_run_starts_at_the_peak(schedule):
    # field case 57
    schedule = schedule.model_copy(update={"warmup_updates": 0})
    rates = rates_of(schedule, *range(1, 61))
    peak = 512**-0.5 if schedule.kind == "paper" else 0.008
    # A way down that begins with update 0 has its first step behind it.
    assert rates[0] == pytest.approx(peak, rel=0.03)
    assert max(rates) == rates[0] <= peak


@pytest.mark.parametrize(
    "rate_of", [lambda n: paper_rate(n, 512, 0), lambda n: inverse_square_root_rate(n, 0, 1.0)]
)
def test_the_square_root_without_warm_up(rate_of):
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


def test_every_update_of_an_epoch_has_its_own_rate(run):
    # field cases 57 and 58
    ended = run(
        schedule=COSINE.model_dump(),
        batches__max_tokens=64,
        trainer__max_updates=20,
        trainer__log_every_updates=1,
        validation__every_updates=20,
        checkpoints__newest=0,
    )
    config = ended.config
    corpus = prepare(config.data, config.tokenizer, folder=Path(config.prepared_folder))
    assert len(make_loaders(config, corpus)[0]) > 20, "one epoch"
    curve = ended.curve("train/learning_rate")
    expected = {update: learning_rate(COSINE, update, 16) for update in range(1, 21)}
    assert curve == pytest.approx(expected, rel=1e-6)
    assert len(set(curve.values())) == 20
