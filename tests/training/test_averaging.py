"""The mean of some checkpoints competes with the best one (section 6.1)."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EMAWeightAveraging

from latimer.checkpoint import (
    average,
    find_checkpoint,
    load_model,
    load_weights,
    read_checkpoint,
    write_checkpoint,
)
from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.training import tags
from latimer.training.averaging import choose_final
from latimer.training.best import ScoredState
from latimer.training.checkpoints import Checkpoints


def test_the_average_is_the_mean_of_the_newest(good_run):
    contents = good_run.checkpoints
    states = [contents[name]["state_dict"] for name in ("step_0000120", "step_0000130")]
    averaged = contents["averaged"]
    for name, weight in averaged["state_dict"].items():
        mean = (states[0][name].double() + states[1][name].double()) / 2
        assert torch.allclose(weight.double(), mean, rtol=0, atol=1e-7)
    assert averaged["latimer"]["averaged"] == [120, 130]
    assert set(averaged["latimer"]["scores"]) == set(tags.VALIDATION_TAGS)
    assert "optimizer_states" not in averaged
    assert load_model(good_run.folder / "checkpoints" / "averaged.ckpt").updates == 130


def test_the_better_one_is_scored(good_run):
    """By the monitored score on the validation set, which this run's configuration says is NLL."""
    contents = good_run.checkpoints
    nll = {name: contents[name]["latimer"]["scores"]["val/nll"] for name in ("best", "averaged")}
    scored = load_model(good_run.folder / "checkpoints" / f"{min(nll, key=nll.get)}.ckpt")
    text = (good_run.folder / "evaluation" / "first" / "result.json").read_text("utf-8")
    assert json.loads(text)["checkpoint_sha256"] == scored.sha256


def test_both_are_shown_and_the_page_says_which_was_taken(good_run):
    """Beside each other, with BLEU and the monitored score."""
    scores = {
        name: good_run.checkpoints[name]["latimer"]["scores"] for name in ("best", "averaged")
    }
    taken = find_checkpoint(good_run.folder).stem
    page = (good_run.folder / "run.md").read_text(encoding="utf-8")
    for name, values in scores.items():
        mark = "yes" if name == taken else ""
        figures = [f"{name}.ckpt", f"{values['val/bleu']:.2f}", f"{values['val/nll']:.4f}", mark]
        for text, bar in ((good_run.shown, "│"), (page, "|")):
            cells = [[cell.strip() for cell in line.split(bar)[1:-1]] for line in text.split("\n")]
            assert figures in [[row[0], row[1], row[3], row[6]] for row in cells if len(row) == 7]
    assert f"taken: {taken}.ckpt, by val/nll on the validation set" in good_run.shown
    assert f"Scored: `{taken}.ckpt`" in page


@dataclass
class EndOfTraining:
    """What is left when a training has ended: its files, and a model that can be validated."""

    folder: Path
    make_contents: Callable[..., dict[str, Any]]
    checkpoints: Checkpoints
    trainer: SimpleNamespace
    task: SimpleNamespace
    validated: list[dict[str, torch.Tensor]] = field(default_factory=list)

    def write(self, name: str, seed: int, **scores: float) -> None:
        contents = self.make_contents(seed=seed, updates=seed)
        contents["latimer"]["scores"] = dict.fromkeys(tags.VALIDATION_TAGS, 0.0) | scores
        write_checkpoint(contents, self.folder / f"{name}.ckpt")

    def choose(self, score: float) -> str:
        """The final checkpoint's name, if the average has this score by every metric."""

        def validate(task, loader, verbose):
            self.validated.append({n: w.clone() for n, w in self.task.model.state_dict().items()})
            task.validation_scores = dict.fromkeys(tags.VALIDATION_TAGS, score)

        self.trainer.validate = validate
        return choose_final(self.trainer, self.task, None, Screen()).name

    def mean(self, *names: str) -> dict[str, torch.Tensor]:
        return load_weights(average([self.folder / f"{name}.ckpt" for name in names]))


@pytest.fixture
def make_end(make_config, make_contents, make_model, tmp_path):
    """The end of a training whose best two states had updates 2 and 1, and given scores."""

    def make(monitor="val/bleu", best=20.0, average="newest", kept=1) -> EndOfTraining:
        folder = tmp_path / "run" / "checkpoints"
        folder.mkdir(parents=True)
        wanted = {"best": kept, "newest": 9, "every_updates": 1, "average": average}
        config = make_config(checkpoints={"monitor": monitor, **wanted})
        checkpoints = Checkpoints(folder=folder, tokenizers=None, config=config)
        worse = best + (1.0 if monitor == "val/nll" else -1.0)
        for update, score in ((2, best), (1, worse)):
            checkpoints.best.add(ScoredState(update, dict.fromkeys(tags.VALIDATION_TAGS, score)))
        trainer = SimpleNamespace(
            callbacks=[checkpoints],
            is_global_zero=True,
            strategy=SimpleNamespace(barrier=lambda name: None),
        )
        task = SimpleNamespace(model=make_model())
        end = EndOfTraining(folder, make_contents, checkpoints, trainer, task)
        end.write("best", 2, **{monitor: best})
        return end

    return make


@pytest.mark.parametrize(
    ("monitor", "best", "averaged", "chosen"),
    [
        ("val/bleu", 20.0, 21.0, "averaged.ckpt"),
        ("val/bleu", 20.0, 19.0, "best.ckpt"),
        ("val/nll", 2.0, 2.1, "best.ckpt"),
        ("val/nll", 2.0, 1.9, "averaged.ckpt"),
        ("val/chrf", 50.0, 50.0, "best.ckpt"),
    ],
)
def test_the_choice_is_made_by_validation(make_end, monitor, best, averaged, chosen):
    """And a run folder stands for the one that was chosen."""
    end = make_end(monitor, best)
    end.write("step_0000001", 1)
    end.write("step_0000002", 2)
    assert end.choose(averaged) == chosen
    assert find_checkpoint(end.folder.parent) == end.folder / chosen


@pytest.mark.parametrize("steps", [0, 1])
def test_there_is_no_average_of_less_than_two(make_end, steps):
    end = make_end()
    for number in range(steps):
        end.write(f"step_000000{number}", number)
    assert end.choose(99.0) == "best.ckpt"
    assert sorted(path.name for path in end.folder.glob("*[!0-9].*")) == ["best.ckpt"]


@pytest.mark.parametrize(
    ("average_of", "names"),
    [
        ("newest", ["step_0000004", "step_0000005", "step_0000006"]),
        ("best", ["best_0000001", "best_0000002"]),
        ("none", []),
    ],
)
def test_what_is_averaged(make_end, average_of, names):
    """The average that is validated is the one that is written."""
    end = make_end(average=average_of, kept=2)
    for seed in (1, 2):
        end.write(f"best_000000{seed}", seed)
    for seed in (4, 5, 6):
        end.write(f"step_000000{seed}", seed)
    end.choose(21.0)
    assert len(end.validated) == bool(names)
    assert (end.folder / "averaged.ckpt").exists() == bool(names)
    if names:
        written = load_weights(read_checkpoint(end.folder / "averaged.ckpt"))
        for name, weight in end.mean(*names).items():
            assert torch.equal(end.validated[0][name], weight)
            assert torch.equal(written[name], weight)


def test_a_callback_with_weights_of_its_own_does_not_validate_them_instead(make_end):
    """Lightning's averages would take the place of the mean that is to be judged."""
    end = make_end()
    mine = pl.Callback()
    end.trainer.callbacks += [EMAWeightAveraging(), mine]
    end.write("step_0000001", 1)
    end.write("step_0000002", 2)
    end.choose(21.0)
    assert end.trainer.callbacks == [end.checkpoints, mine]
    for name, weight in end.mean("step_0000001", "step_0000002").items():
        assert torch.equal(end.validated[0][name], weight)


def test_one_state_has_no_mean(make_config):
    with pytest.raises(LatimerError, match=r"checkpoints\.average=best: .*checkpoints\.best=2"):
        make_config(checkpoints__average="best")
