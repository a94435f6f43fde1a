"""Two processes train as one does, and leave what one leaves."""

import io
import os
import re
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
import torch
from datasets import Dataset
from torch import distributed

from latimer.checkpoint import load_model
from latimer.config.check import check
from latimer.config.run import RunConfig
from latimer.data.batches import TokenBatches
from latimer.data.prepared import prepare
from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.training import validation
from latimer.training.hardware import Hardware
from latimer.training.processes import gather, rank, summed, threads_each
from latimer.training.ready import make_model
from latimer.training.run import train
from latimer.training.task import TranslationTask
from latimer.training.tensorboard import flatten
from latimer.training.trainer import make_loaders, make_trainer
from toy_run import merge, toy_settings, write_pairs

VALIDATION_LINES = 21


class Ended(NamedTuple):
    config: RunConfig
    folder: Path
    shown: str


def load(run, name):
    return torch.load(run.folder / "checkpoints" / f"{name}.ckpt", weights_only=True)


def open_corpus(config):
    return prepare(config.data, config.tokenizer, folder=Path(config.prepared_folder))


@pytest.fixture(scope="module")
def toy_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("processes")


@pytest.fixture(scope="module")
def configure(toy_folder):
    """Four micro-batches an update however many processes there are; no dropout."""

    def make(devices, **more):
        changes = {
            "name": f"toy-{devices}",
            "data.validation": write_pairs(toy_folder, "lines", VALIDATION_LINES, 2),
            "model.dropout": 0.0,
            "trainer.devices": devices,
            "batches.max_tokens": 125,
            "batches.accumulation": 4 // devices,
            "validation.max_tokens": 85,
            "validation.bleu_sentences": VALIDATION_LINES,
            **{key.replace("__", "."): value for key, value in more.items()},
        }
        return check(merge(toy_settings(toy_folder), changes), RunConfig)

    return make


def start(config):
    shown = io.StringIO()
    with redirect_stdout(shown):
        folder = train(config, Screen())
    return Ended(config, folder, shown.getvalue())


@pytest.fixture(scope="module", autouse=True)
def one_thread_each():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="module")
def runs(configure):
    """Trained by one process and by two; the latter leaves nothing behind in this one."""
    one, before = start(configure(1)), dict(os.environ)
    two = start(configure(2))
    assert dict(os.environ) == before
    assert not distributed.is_initialized()
    return {1: one, 2: two}


def test_the_gradient_does_not_depend_on_the_number_of_processes(runs, configure):
    """Field case 60: micro-batches of unequal numbers of pieces, several updates."""
    corpus = open_corpus(configure(1))
    batches = TokenBatches(corpus.train, max_tokens=125)
    pieces = [corpus.train.target_lengths[rows].sum() for update in batches for rows in update]
    assert len(batches) % 4 == 0
    assert len(set(pieces)) > len(pieces) / 2
    one, two = (load(runs[devices], "last") for devices in (1, 2))
    assert one["latimer"]["updates"] == two["latimer"]["updates"] == 6
    for name, weight in one["state_dict"].items():
        torch.testing.assert_close(two["state_dict"][name], weight, rtol=0, atol=1e-5)


def test_the_curves_are_those_of_all_processes(runs):
    """Pieces, losses and padding are added up, and the norm is that of the whole gradient."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    one, two = (EventAccumulator(str(runs[devices].folder)).Reload() for devices in (1, 2))
    assert one.Tags()["scalars"] == two.Tags()["scalars"]
    for tag in ("loss", "nll", "grad_norm", "padding", "learning_rate"):
        first, second = (
            {event.step: event.value for event in events.Scalars(f"train/{tag}")}
            for events in (one, two)
        )
        assert list(first) == [1, 2, 4, 6]
        assert second == pytest.approx(first, rel=1e-4)


def test_one_folder_with_the_files_of_one_process(runs):
    """Field case 146."""
    names = []
    for run in runs.values():
        assert [*run.folder.parent.iterdir()] == [run.folder]
        files = [path for path in run.folder.rglob("*") if path.is_file()]
        events = [path for path in files if path.name.startswith("events.out.tfevents.")]
        assert len(events) == 1
        names.append({str(path.relative_to(run.folder)) for path in files if path not in events})
    assert names[0] == names[1]


def test_one_process_is_seen_and_heard(runs):
    run = runs[2]
    assert (run.folder / "train.log").read_text(encoding="utf-8") == run.shown
    assert run.shown.count("validation at update 3:") == 1
    assert "2 × CPU" in run.shown


def test_a_validation_gives_the_same_to_all_digits(runs, configure, toy_folder):
    """Field cases 61, 113 and 114: what two processes stored is what one finds, of 21 lines."""
    config, stored = configure(1), load(runs[2], "best")
    corpus = open_corpus(config)
    task = TranslationTask(make_model(config, **corpus.tokenizers.vocab_sizes), config)
    model = load_model(runs[2].folder / "checkpoints" / "best.ckpt").model
    task.model.load_state_dict(model.state_dict())
    _, batches = make_loaders(config, corpus)
    assert len(batches) > 2
    assert len(batches) % 2
    trainer = make_trainer(
        config,
        hardware=Hardware("cpu", "float32", ""),
        corpus=corpus,
        updates_per_epoch=1,
        folder=toy_folder,
        screen=Screen(),
    )
    trainer.validate(task, batches, verbose=False)
    assert task.validation_scores == stored["latimer"]["scores"]
    assert flatten(task.validation_scores).keys() >= {"val/nll", "val/bleu"}
    samples = runs[2].folder / "samples" / f"update_{stored['latimer']['updates']:07}.txt"
    assert samples.read_text(encoding="utf-8").count("  hypothesis ") == VALIDATION_LINES


def test_more_processes_than_pairs(make_config, tmp_path):
    """Found before anything is written, as all that can be wrong with the data."""
    with pytest.raises(LatimerError, match=r"96 training pairs.* 97 processes"):
        train(make_config(trainer__devices=97), Screen())
    assert not (tmp_path / "runs").exists()


class Capitals:
    """Stands in for a translator."""

    def __init__(self, *_arguments, **_settings):
        """Of no model."""

    def translate(self, lines):
        return [line.upper() for line in lines]


@pytest.mark.parametrize("lines", [21, 1])
def test_translations_come_back_in_the_order_of_their_sources(monkeypatch, make_config, lines):
    """Field case 114."""
    sources = [f"line {number}" for number in range(lines)]
    shares = [[line.upper() for line in sources[number::2]] for number in range(2)]
    monkeypatch.setattr(validation, "Translator", Capitals)
    for number in range(2):
        monkeypatch.setattr(
            validation, "gather", lambda own, n=number: [*shares[:n], own, *shares[n + 1 :]]
        )
        callback = validation.TranslateValidation(
            tokenizers=None,
            pairs=Dataset.from_dict({"source": sources, "target": sources}),
            config=make_config(validation__bleu_sentences=lines),
            screen=Screen(),
            samples=None,
        )
        trainer = SimpleNamespace(world_size=2)
        task = SimpleNamespace(global_rank=number, trainer=trainer, model=None)
        assert callback._translate(task) == [line.upper() for line in sources]


def test_a_process_alone():
    assert rank() == 0
    assert gather("x") == ["x"]
    assert summed([1, 2.5], torch.device("cpu")) == [1, 2.5]


def test_processes_share_the_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(6), raising=False)
    assert [threads_each(devices) for devices in (2, 3, 8)] == [3, 2, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert threads_each(2) == torch.get_num_threads()


def test_each_process_drops_out_differently(make_config):
    """And always in the same way."""
    task = TranslationTask(torch.nn.Linear(1, 1), make_config(seed=5))
    drawn = []
    for number in (0, 1, 0, 1):
        task._trainer = SimpleNamespace(world_size=2, global_rank=number)
        task.setup("fit")
        drawn.append(torch.rand(4).tolist())
    assert drawn[0] != drawn[1]
    assert drawn[:2] == drawn[2:]


def test_one_process_keeps_its_random_numbers(make_config):
    task = TranslationTask(torch.nn.Linear(1, 1), make_config(seed=5))
    task._trainer = SimpleNamespace(world_size=1, global_rank=0)
    torch.manual_seed(99)
    expected = torch.rand(4).tolist()
    torch.manual_seed(99)
    task.setup("fit")
    assert torch.rand(4).tolist() == expected


@pytest.mark.parametrize(
    ("positions", "max_length"), [("sinusoidal", None), ("rotary", None), ("learned", 64)]
)
def test_the_model_has_no_buffers(make_config, positions, max_length):
    """DDP exchanges them in each forward pass, also where processes have unequal counts of those.

    They would wait for each other for ever in a validation.
    """
    config = make_config(model__positions=positions, model__max_length=max_length)
    assert [*make_model(config, source_vocab_size=20, target_vocab_size=20).buffers()] == []


@pytest.mark.slow
def test_a_loss_that_is_not_finite_in_one_process_is_told_once(configure):
    """Field case 55: with that process's pairs, and without a word of its end."""
    poison = {"_target_": "watchers.PoisonLossOfOne", "rank": 1, "update": 2}
    config = configure(2, name="poisoned", callbacks={"poison": poison})
    share = TokenBatches(
        open_corpus(config).train, max_tokens=125, accumulation=2, seed=1, rank=1, world_size=2
    )
    told = rf"the loss became nan in update 2, .* pairs {re.escape(str([*share][1][0]))};"
    with pytest.raises(LatimerError, match=told):
        start(config)


@pytest.mark.slow
def test_a_run_of_two_processes_goes_on_exactly(configure):
    """Each with its own random numbers."""
    settings = {"model__dropout": 0.3, "model__attention_dropout": 0.2, "checkpoints__newest": 0}
    whole = start(configure(2, name="whole", **settings))
    stopped = start(configure(2, name="stopped", **settings, trainer__max_updates=4))
    resumed = start(whole.config.model_copy(update={"name": "stopped", "resume": stopped.folder}))
    assert resumed.folder == stopped.folder
    one, other = load(whole, "last"), load(resumed, "last")
    assert len(one["latimer"]["random_states"]) == 2
    states = [states["torch"] for states in one["latimer"]["random_states"]]
    assert not torch.equal(*states)
    for name, weight in one["state_dict"].items():
        assert torch.equal(other["state_dict"][name], weight)
    assert one["latimer"]["scores"] == other["latimer"]["scores"]
