"""Two runs, file by file and curve by curve: are they the same to the last bit?"""

import filecmp
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator
from torch.utils._pytree import tree_flatten

from latimer.config.run import RunConfig
from toy_trainings import Run, start

FROM_A_CLOCK = {"train/tokens_per_second"}
COUNTERS = (
    "epoch_progress",
    "epoch_loop.batch_progress",
    "epoch_loop.manual_optimization.optim_step_progress",
    "epoch_loop.state_dict",
)
"""Lightning's, of epochs, batches, updates and loggings."""


def resume(run_folder: Path, config: RunConfig, **changes: Any) -> Run:
    """Goes on with a run, by its own configuration with these sections in place of its own."""
    request = {"resume": str(run_folder), "run_folder": None}
    return start(config.model_copy(update={**request, **changes}))


def assert_same_contents(one, other, name):
    """All weights, moments, counters and random states, and all scores, to the last bit."""
    for part in ("state_dict", "optimizer_states", "lr_schedulers"):
        assert_same_values(one.get(part), other.get(part), f"{name}: {part}")
    about, others = one["latimer"], other["latimer"]
    for part in set(about) - {"config"}:
        assert_same_values(about[part], others[part], f"{name}: {part}")
    for part in ("epoch", "global_step"):
        assert one.get(part) == other.get(part), f"{name}: {part}"
    if "loops" in one:
        for part in COUNTERS:
            counts = (each["loops"]["fit_loop"][part] for each in (one, other))
            assert_same_values(*counts, f"{name}: {part}")


def assert_same_values(one, other, name):
    ours, theirs = tree_flatten(one), tree_flatten(other)
    assert ours[1] == theirs[1], name
    for value, its in zip(ours[0], theirs[0], strict=True):
        same = torch.equal(value, its) if isinstance(value, torch.Tensor) else value == its
        assert same, name


def names_of(folder: Path) -> set[str]:
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return {name for name in names if not name.startswith("events.out.")}


def assert_same_run(run: Run, whole: Run):
    assert names_of(run.folder) == names_of(whole.folder)
    ours, theirs = run.checkpoints, whole.checkpoints
    for name, contents in ours.items():
        assert_same_contents(contents, theirs[name], name)
    for pattern in ("samples/*", "evaluation/*/*.txt"):
        for path in run.folder.glob(pattern):
            assert filecmp.cmp(path, whole.folder / path.relative_to(run.folder), shallow=False)
    assert_same_curves(run, whole)


def assert_same_curves(run: Run, whole: Run):
    """Field case 120: one visible value per step, strictly increasing; texts and pictures too."""
    seen, expected = visible(run.folder), visible(whole.folder)
    assert set(seen) == set(expected)
    for tag, values in expected.items():
        steps = [step for step, _ in seen[tag]]
        assert all(before < after for before, after in pairwise(steps)), tag
        if tag in FROM_A_CLOCK:
            assert steps == [step for step, _ in values]
        else:
            assert seen[tag] == values, tag


def visible(folder: Path) -> dict[str, list[tuple[int, bytes]]]:
    """What TensorBoard shows, tag by tag."""
    unlimited = dict.fromkeys(("scalars", "text", "images"), 0)
    events = EventAccumulator(str(folder), {"tensors": 0}, unlimited).Reload()
    return {
        tag: [(one.step, one.tensor_proto.SerializeToString()) for one in events.Tensors(tag)]
        for tag in events.Tags()["tensors"]
        if not tag.startswith("_hparams_")
    }
