"""The mean of the newest checkpoints competes with the best one (section 6.1)."""

import json
from types import SimpleNamespace

import pytest
import torch

from latimer.checkpoint import load_model, write_checkpoint
from latimer.screen import Screen
from latimer.training import tags
from latimer.training.averaging import choose_final
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


@pytest.fixture
def choose(make_config, make_contents, make_model, tmp_path):
    """Chooses between a best checkpoint and an average with the given scores."""

    def make(monitor, best, averaged, steps=2):
        config = make_config(checkpoints__monitor=monitor)
        checkpoints = Checkpoints(folder=tmp_path, tokenizers=None, config=config)
        checkpoints.best_score = best
        for number in range(steps):
            write_checkpoint(make_contents(seed=number), tmp_path / f"step_{number}.ckpt")
        task = SimpleNamespace(model=make_model())
        trainer = SimpleNamespace(callbacks=[checkpoints])

        def validate(task, loader, verbose):
            task.validation_scores = dict.fromkeys(tags.VALIDATION_TAGS, averaged)

        trainer.validate = validate
        return choose_final(trainer, task, None, Screen()).name

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
def test_the_choice_is_made_by_validation(choose, monitor, best, averaged, chosen):
    assert choose(monitor, best, averaged) == chosen


@pytest.mark.parametrize("steps", [0, 1])
def test_there_is_no_average_of_less_than_two(choose, tmp_path, steps):
    assert choose("val/bleu", 20.0, 99.0, steps=steps) == "best.ckpt"
    assert not (tmp_path / "averaged.ckpt").exists()
