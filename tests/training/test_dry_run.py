"""``dry_run=true``: what a run would need, measured on its own updates; and no file is left."""

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import pytorch_lightning as pl
import torch

from latimer.config.training import TrainerConfig
from latimer.data.batches import TokenBatches
from latimer.data.encoded import EncodedPairs
from latimer.data.loaders import TrainingLoader
from latimer.errors import LatimerError
from latimer.model import Transformer
from latimer.screen import Screen
from latimer.training.counts import Epoch, count_blocks
from latimer.training.dry_run import dry_run
from latimer.training.forecast import Pace, forecast
from latimer.training.memory_estimate import Memory, SavedTensors, format_size
from latimer.training.rate_curve import WIDTH, draw_rates, rate_rows
from latimer.training.run import train
from latimer.training.schedule import learning_rate
from toy_trainings import configure


class WritesSomething(pl.Callback):
    """A user's callback that writes a file where it wants to."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def on_train_start(self, trainer, pl_module):
        self.path.touch()


def tell(config) -> str:
    shown = io.StringIO()
    with redirect_stdout(shown):
        dry_run(config, Screen())
    return shown.getvalue()


def files(folder: Path) -> dict[Path, tuple[int, int]]:
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file()
    }


def cells(shown: str) -> dict[str, list[str]]:
    """The rows of all tables by their first column, and the lines without borders likewise."""
    rows = {}
    for line in shown.split("\n"):
        if line.startswith("│"):
            first, *others = (cell.strip() for cell in line.strip("│").split("│"))
            rows[first] = others
        elif "  " in line:
            first, _, other = line.strip().partition("  ")
            rows[first] = [other.strip()]
    return rows


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What a dry run of the toy run tells, and the files beside it before and after."""
    folder, scratch = tmp_path_factory.mktemp("toy"), tmp_path_factory.mktemp("scratch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(scratch))
        writes = {"_target_": "test_dry_run.WritesSomething", "path": str(folder / "written")}
        config = configure(folder, **{"callbacks": {"mine": writes}})
        before = files(folder)
        shown = tell(config)
    return shown, before, files(folder), list(scratch.iterdir())


def test_nothing_is_written(told):
    _, before, after, left_behind = told
    assert after == before
    assert left_behind == []


def test_what_is_counted(told):
    shown = cells(told[0])
    # D = 16, FF = 32, V = 90: an attention has four matrices; a layer has two norms or three.
    attention, feed_forward, norm = 4 * 16 * 16, 2 * 16 * 32 + 32 + 16, 2 * 16
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    counts = {
        "embeddings": 90 * 16,
        "encoder": encoder,
        "decoder": decoder,
        "output (shared)": 0,
        "all": 90 * 16 + encoder + decoder,
    }
    for block, number in counts.items():
        assert shown[block] == [f"{number:,}", f"{number:,}", "0"]
    assert shown["an epoch"] == ["96 pairs in 6 updates"]


# field case 148
def test_the_largest_batch_is_tried_first(told):
    rows, source, target = (
        int(word) for word in cells(told[0])["largest batch"][0].split() if word.isdigit()
    )
    assert 256 - max(source, target) < rows * max(source, target) <= 256
    assert "tried first, and fits" in told[0]


def test_what_is_measured(told):
    shown = cells(told[0])
    assert shown["speed"][0].endswith("target pieces/s, measured over 5 updates")
    assert shown["whole run"] == ["6 updates, 1.0 epochs"]
    assert shown["its end"] == ["trainer.max_updates=6"]
    assert shown["4 (end of the warm-up)"] == ["0.003"]
    assert "resident memory of this process" in shown["highest so far"][0]


def test_it_is_readable_at_80_columns(told):
    lines = told[0].split("\n")
    plot = [line for line in lines if line.startswith(("-----------|", "           |"))]
    assert plot
    assert all(len(line) <= 80 for line in plot)


def test_a_corpus_that_was_prepared_before_is_used_and_left_alone(make_config, monkeypatch):
    config = make_config()
    train(config, Screen())

    def encode_again(*_arguments):
        raise AssertionError("the corpus was there")

    monkeypatch.setattr("latimer.data.prepared.encode_corpus", encode_again)
    folder = Path(config.prepared_folder)
    before = files(folder)
    tell(config)
    assert before
    assert files(folder) == before


def test_a_run_folder_that_a_run_would_refuse_is_refused(make_config, tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.tex").touch()
    with pytest.raises(LatimerError, match=r"run_folder=.*taken"):
        tell(make_config(run_folder=str(tmp_path / "taken")))


def test_a_run_that_would_be_overwritten_is_left_alone(make_config, tmp_path):
    folder = tmp_path / "taken"
    folder.mkdir()
    for name in ("config.yaml", "environment.json", "train.log"):
        (folder / name).touch()
    before = files(folder)
    tell(make_config(run_folder=str(folder), mode="overwrite"))
    assert files(folder) == before
    with pytest.raises(LatimerError, match="run_folder="):
        tell(make_config(run_folder=str(folder)))


def test_a_run_that_goes_on_is_not_measured(make_config):
    with pytest.raises(LatimerError, match="dry_run=true: is for new runs"):
        make_config(resume="runs/toy", dry_run=True)


def test_too_little_memory_is_told_with_the_keys_that_help(make_config, monkeypatch):
    def training_step(*_arguments):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB. More.")

    monkeypatch.setattr("latimer.training.task.TranslationTask.training_step", training_step)
    with pytest.raises(LatimerError) as caught:
        tell(make_config())
    assert str(caught.value).startswith("too little memory for the largest batch (CUDA out of mem")
    assert "batches.max_tokens" in str(caught.value)


def make_model(tying):
    sizes = {"d_model": 8, "heads": 2, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1}
    return Transformer(source_vocab_size=20, target_vocab_size=20, tying=tying, **sizes)


@pytest.mark.parametrize(
    ("tying", "embeddings", "output"), [("all", 160, 0), ("decoder", 320, 0), ("none", 320, 160)]
)
def test_parameters_by_block(tying, embeddings, output):
    model = make_model(tying)
    model.encoder.requires_grad_(False)
    rows = {name: numbers for name, *numbers in count_blocks(model)}
    assert rows["embeddings"] == [embeddings, embeddings, 0]
    name = "output" if output else "output (shared)"
    assert rows[name] == [output, output, 0]
    assert rows["encoder"][1] == 0
    assert rows["encoder"][2] == rows["encoder"][0] > 0
    assert rows["all"][0] == sum(parameter.numel() for parameter in model.parameters())
    assert rows["all"][0] == rows["all"][1] + rows["all"][2]


def test_an_epoch():
    pairs = EncodedPairs.from_ids([[5] * 3, [5] * 2, [5] * 1], [[6] * 1, [6] * 2, [6] * 3])
    # Each sentence has an end more. The budget holds two pairs of length 4.
    loader = TrainingLoader(pairs, TokenBatches(pairs, max_tokens=8))
    epoch = Epoch.of(pairs, loader)
    assert (epoch.pairs, epoch.source, epoch.target, epoch.updates) == (3, 9, 9, 2)
    # Rows 0 and 2, 4 cells wide on each side, of which 12 of 16 are real; then row 1, all real.
    assert epoch.padding == pytest.approx(1 - 18 / 22)


def test_saved_tensors_are_those_of_the_backward_pass():
    weight = torch.nn.Parameter(torch.ones(10, 10))
    inputs = torch.ones(7, 10)
    saved = SavedTensors([weight])
    with saved.counted():
        first = inputs @ weight  # keeps the inputs; the weight doesn't count
        second = first.tanh()  # keeps its output
        (second * 2).sum()  # keeps nothing
    assert saved.size == 4 * (7 * 10 + 7 * 10)
    with saved.counted():
        inputs.tanh()  # needs no gradient
        second.view(-1) * second.view(-1)  # keeps the same storage again
    assert saved.size == 4 * (7 * 10 + 7 * 10)


def test_gradients_are_the_same_while_saved_tensors_are_counted():
    gradients = []
    for count in (True, False):
        torch.manual_seed(1)
        layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Softmax(-1))
        inputs = torch.randn(3, 4)
        saved = SavedTensors(layer.parameters())
        if count:
            with saved.counted():
                loss = layer(inputs).square().sum()
        else:
            loss = layer(inputs).square().sum()
        loss.backward()
        gradients.append(layer[0].weight.grad)
    assert torch.equal(*gradients)


def test_memory_of_an_update():
    model = torch.nn.Linear(100, 10)  # 1,010 weights of 4 bytes
    model.bias.requires_grad_(False)
    optimizer = torch.optim.Adam([model.weight])
    model(torch.ones(2, 100)).sum().backward()
    optimizer.step()
    memory = Memory.after_update(model, optimizer, activations=500)
    assert (memory.weights, memory.gradients, memory.activations) == (4040, 4000, 500)
    steps = 4
    assert memory.optimizer == 2 * 4000 + steps
    assert memory.total == 4040 + 4000 + 8004 + 500


def test_sizes_are_readable():
    assert format_size(3 * 2**20) == "3.0 MiB"
    assert format_size(1.5 * 2**30) == "1.50 GiB"


PACE = Pace(update=2.0, validation=10.0, every_updates=5)


@pytest.mark.parametrize(
    ("updates", "validations", "seconds"),
    [(1, 1, 12), (4, 1, 18), (5, 1, 20), (6, 2, 32), (10, 2, 40)],
)
def test_the_time_of_updates_and_their_validations(updates, validations, seconds):
    assert PACE.validations(updates) == validations
    assert PACE.seconds(updates) == seconds


@pytest.mark.parametrize(
    ("seconds", "updates"), [(1, 1), (2.5, 2), (9, 5), (15, 5), (20.5, 6), (29, 10), (40.5, 11)]
)
def test_the_updates_of_a_time(seconds, updates):
    # After five updates, at second 10, a validation runs until second 20.
    assert PACE.updates(seconds) == updates


def limits(**given):
    settings = {
        "accelerator": "cpu", "devices": 1, "precision": "float32", "max_updates": None,
        "max_epochs": None, "max_time": None, "gradient_clip": None, "profiler": None,
        "log_every_updates": 1,
    }  # fmt: skip
    return TrainerConfig(**{**settings, **given})


@pytest.mark.parametrize(
    ("given", "updates", "seconds", "limit"),
    [
        ({"max_updates": 10}, 10, 40, "trainer.max_updates=10"),
        ({"max_updates": 10, "max_epochs": 2}, 6, 32, "trainer.max_epochs=2"),
        ({"max_updates": 4, "max_epochs": 2}, 4, 18, "trainer.max_updates=4"),
        ({"max_time": "00:00:29"}, 10, 29, "trainer.max_time=00:00:29"),
        ({"max_updates": 10, "max_time": "00:00:15"}, 5, 15, "trainer.max_time=00:00:15"),
        ({"max_updates": 10, "max_time": "01:00:00"}, 10, 40, "trainer.max_updates=10"),
    ],
)
def test_the_limit_that_comes_first(given, updates, seconds, limit):
    found = forecast(limits(**given), updates_per_epoch=3, pace=PACE)
    assert (found.updates, found.seconds, found.limit) == (updates, seconds, limit)


def test_the_rates_beside_the_curve(make_config):
    schedule = make_config(**{"schedule.warmup_updates": 40, "schedule.rate": 1e-3}).schedule
    rows = dict(rate_rows(schedule, 2000, d_model=16))
    assert list(rows) == [
        *("1 (the first)", "40 (end of the warm-up)", "500", "1,000", "1,500", "2,000 (the last)"),
    ]
    assert rows["40 (end of the warm-up)"] == "0.001"
    for update in (500, 1000, 1500):
        assert float(rows[f"{update:,}"]) == pytest.approx(
            learning_rate(schedule, update, 16), rel=0.01
        )


def test_the_curve_rises_to_its_peak_and_falls(make_config):
    schedule = make_config(**{"schedule.warmup_updates": 500, "schedule.rate": 1e-3}).schedule
    drawn = draw_rates(schedule, 2000, d_model=16).split("\n")
    heights = {}
    for height, line in enumerate(reversed([line for line in drawn if " | " in line])):
        for column, character in enumerate(line.partition(" | ")[2]):
            if character not in " \u2800":
                heights[column] = height
    peak = max(heights, key=heights.get)
    assert peak == int(WIDTH * 500 / 2000)
    assert [heights[n] for n in range(peak)] == sorted(heights[n] for n in range(peak))
    falling = [heights[n] for n in range(peak, max(heights))]
    assert falling == sorted(falling, reverse=True)
    assert "1.00e-03" in drawn[2]


def test_a_run_of_one_update_can_be_drawn(make_config):
    schedule = make_config().schedule
    assert len(draw_rates(schedule, 1, d_model=16).split("\n")) > 10
    assert rate_rows(schedule, 1, d_model=16) == [("1 (the last)", "0.00075")]
