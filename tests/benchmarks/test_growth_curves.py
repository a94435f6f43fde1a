import pytest
from typer.testing import CliRunner

from benchmarks import child, growth, growth_points
from benchmarks.__main__ import app
from benchmarks.curves import Curve, fit
from benchmarks.growth import Axis, bench_growth
from benchmarks.plots import draw
from benchmarks.workloads import configuration
from latimer.training.ready import make_model
from latimer.training.task import TranslationTask


def test_a_line_is_found():
    line = fit([(x, 2.0 + 3.0 * x) for x in (1, 10, 100, 1_000)])
    assert line["constant"] == pytest.approx(2.0)
    assert line["slope"] == pytest.approx(3.0)
    assert line["largest_deviation"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("power", [0, 1, 2])
def test_the_exponent_tells_how_it_grows(power):
    fitted = fit([(x, 5.0 * x**power) for x in (1, 2, 4, 8, 16)])
    assert fitted["exponent"] == pytest.approx(power, abs=1e-9)


def test_what_is_no_line_deviates():
    assert fit([(x, x**2) for x in (1, 2, 4, 8, 16)])["largest_deviation"] > 0.2


@pytest.fixture
def asked(monkeypatch):
    """What the processes that measure are asked; a size takes two seconds, and 1 GiB."""
    asked = []

    def measured(task, **arguments):
        asked.append((task.partition(":")[2], arguments))
        sizes = arguments.get("values") or [arguments["pairs"]]
        points = [{"seconds": 2.0 * size, "peak_bytes": 2**30} for size in sizes]
        return points if "values" in arguments else points[0]

    monkeypatch.setattr(child, "measured", measured)
    return asked


def test_every_curve_is_measured_in_a_process_of_its_own(asked, tmp_path):
    axis = Axis("length", "pieces", (8, 16))
    rows = bench_growth([axis], [axis], [100, 200], repeats=2, folder=tmp_path, report=asked.append)
    calls = [each for each in asked if isinstance(each, tuple)]
    assert [name for name, _ in calls] == ["along"] * 2 + ["preparation"] * 2
    assert calls[1][1] == {
        **{"group": "decoding", "name": "length", "values": (8, 16), "repeats": 2}
    }
    times = [row for row in rows if row["unit"] == "s"]
    assert [row["slope"] for row in times] == pytest.approx([2.0] * 3)
    assert [row["constant"] for row in rows if row["unit"] == "GiB"] == pytest.approx([1.0] * 3)


@pytest.mark.parametrize("part", ["update", "decoding", "preparation"])
def test_curves_can_be_measured_by_themselves(asked, tmp_path, part):
    command = ["growth", "--tiny", "--part", part, "--plots", str(tmp_path)]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert {arguments.get("group", name) for name, arguments in asked} == {part}
    assert [file.name for file in tmp_path.iterdir()] == [f"{part}.png"]


def test_the_points_can_be_measured(monkeypatch, tmp_path):
    assert growth_points.update(1, pieces=32, length=8, width=64, vocab_size=40)["seconds"] > 0
    points = growth_points.along("decoding", "beam_size", [1, 2], 1)
    assert len(points) == 2
    assert all(point["peak_bytes"] > 0 for point in points)
    assert growth_points.decoding(1, beam_size=2, length=3, sentences=2)["seconds"] > 0
    for axes, function in (
        (growth.UPDATE_AXES, growth_points.update),
        (growth.DECODING_AXES, growth_points.decoding),
    ):
        assert {axis.name for axis in axes} <= set(function.__annotations__)


def test_an_update_that_is_timed_over_and_over_stays_one_of_a_training(model_config, pairs):
    config = configuration([]).model_copy(update={"model": model_config})
    task = TranslationTask(make_model(config, source_vocab_size=40, target_vocab_size=40), config)
    largest = [weight.abs().max() for weight in task.parameters()]
    update = growth_points.bare_update(task, pairs.collate(range(len(pairs))))
    for _ in range(10):
        update()
    moved = [
        weight.abs().max() - before
        for weight, before in zip(task.parameters(), largest, strict=True)
    ]
    assert 0 < max(moved) < 0.01


@pytest.mark.slow
def test_curves_are_drawn(tmp_path):
    points = [(1.0, 2.0), (2.0, 3.0), (3.0, 4.0)]
    rows = [
        Curve(group, f"{group} {what}", "s", against, points).fitted()
        for group in ("update", "decoding")
        for what in ("time", "memory")
        for against in ("V", "beams")
    ]
    files = draw(rows, tmp_path / "plots")
    assert [file.name for file in files] == ["update.png", "decoding.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
