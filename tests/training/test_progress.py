"""What the bar and the lines in the log say."""

import pytest

from latimer.training.meter import Meter
from latimer.training.progress import format_duration
from latimer.training.task import UpdateStatistics
from latimer.training.validation import evenly_spaced


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (59.6, "1:00"), (61, "1:01"), (3599, "59:59"), (3600, "1:00:00")],
)
def test_durations(seconds, text):
    assert format_duration(seconds) == text


def test_a_reading_weighs_each_piece_the_same_and_empties_the_meter():
    """Field cases 60 and 62: 2 pieces with 4.0 and 8 with 8.0 are 1.2 a piece, not 1.5."""
    meter = Meter()
    meter.start()
    meter.add(UpdateStatistics(loss=5.0, nll=4.0, tokens=2, cells=10, real_cells=8))
    second = UpdateStatistics(loss=9.0, nll=8.0, tokens=8, cells=30, real_cells=22)
    second.learning_rate, second.grad_norm = 0.5, 3.0
    meter.add(second)
    values = meter.read()
    assert values["train/nll"] == pytest.approx(1.2)
    assert values["train/loss"] == pytest.approx(1.4)
    assert values["train/padding"] == pytest.approx(0.25)
    assert (values["train/learning_rate"], values["train/grad_norm"]) == (0.5, 3.0)
    meter.add(UpdateStatistics(loss=1.0, nll=1.0, tokens=1, cells=1, real_cells=1))
    assert meter.read()["train/nll"] == 1.0


def test_validations_are_no_training_time(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("latimer.training.meter.time.perf_counter", lambda: now[0])
    meter = Meter()
    meter.start()
    meter.add(UpdateStatistics(tokens=50, cells=1))
    now[0] = 102.0
    meter.pause()
    now[0] = 160.0
    meter.start()
    now[0] = 163.0
    assert meter.read()["train/tokens_per_second"] == pytest.approx(50 / 5)


def test_a_subset_is_evenly_spaced_and_always_the_same():
    assert evenly_spaced(10, 4) == [0, 2, 5, 7]
    assert evenly_spaced(3, 200) == [0, 1, 2]
    assert len(set(evenly_spaced(1014, 200))) == 200
