"""The files that a run keeps: what is in them, and that the best one is the best."""

from types import SimpleNamespace

import pytest
import torch
from pytorch_lightning.trainer.states import TrainerFn

from latimer import __version__
from latimer.config.check import check
from latimer.config.run import RunConfig
from latimer.errors import LatimerError
from latimer.training.checkpoints import Checkpoints, SafeCheckpointIO


class StandInTrainer(SimpleNamespace):
    """Validates on demand, with scores that are given, and saves the number of its updates."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        super().__init__(state=SimpleNamespace(fn=TrainerFn.FITTING), global_step=0)
        self.checkpoints = checkpoints

    def validate(self, score: float) -> None:
        self.global_step += 100
        tags = ("val/nll", "val/perplexity", "val/bleu", "val/chrf", "val/length_ratio")
        task = SimpleNamespace(validation_scores=dict.fromkeys(tags, score))
        self.checkpoints.on_validation_end(self, task)

    def save_checkpoint(self, path) -> None:
        path.write_text(f"{self.global_step}", encoding="utf-8")


@pytest.mark.parametrize(
    ("monitor", "scores", "best"),
    [
        ("val/bleu", [5.0, 9.0, 7.0], 200),
        ("val/chrf", [9.0, 5.0, 7.0], 100),
        ("val/nll", [5.0, 3.0, 4.0], 200),
        ("val/perplexity", [5.0, 4.0, 3.0], 300),
        ("val/nll", [3.0, 3.0, 3.0], 100),
        ("val/bleu", [0.0, 0.0, 0.0], 100),
    ],
)
def test_the_best_is_the_best_in_the_direction_of_its_metric(
    make_config, tmp_path, monitor, scores, best
):
    """Field cases 67 and 79; the last one is the last one whatever its score (81)."""
    config = make_config(checkpoints__monitor=monitor)
    checkpoints = Checkpoints(folder=tmp_path, tokenizers=None, config=config)
    trainer = StandInTrainer(checkpoints)
    for score in scores:
        trainer.validate(score)
        assert (tmp_path / "last.ckpt").read_text() == f"{trainer.global_step}"
    assert (tmp_path / "best.ckpt").read_text() == f"{best}"
    assert checkpoints.best_update == best


def test_the_best_score_is_remembered(make_config, tmp_path):
    """Field case 78."""
    config = make_config(checkpoints__monitor="val/bleu")
    first, second = (Checkpoints(folder=tmp_path, tokenizers=None, config=config) for _ in range(2))
    StandInTrainer(first).validate(30.0)
    second.load_state_dict(first.state_dict())
    trainer = StandInTrainer(second)
    trainer.global_step = 100
    trainer.validate(29.0)
    assert [(tmp_path / f"{name}.ckpt").read_text() for name in ("best", "last")] == ["100", "200"]


@pytest.mark.parametrize(("monitor", "choose"), [("val/nll", min), ("val/bleu", max)])
def test_the_best_file_is_that_of_the_best_validation(good_run, run, monitor, choose):
    """Field case 79: its weights, and the scores in it, are those of that validation."""
    trained = good_run if monitor == "val/nll" else run(checkpoints__monitor=monitor)
    best = trained.checkpoints["best"]
    curve = trained.curve(monitor)
    assert curve[best["latimer"]["updates"]] == choose(curve.values())
    assert best["global_step"] == best["latimer"]["updates"]
    assert int(best["optimizer_states"][0]["state"][0]["step"]) == best["global_step"]


def test_the_last_file_is_no_link_and_has_most_updates(good_run):
    """Field case 81."""
    assert not (good_run.folder / "checkpoints" / "last.ckpt").is_symlink()
    updates = {name: one["latimer"]["updates"] for name, one in good_run.checkpoints.items()}
    assert updates["last"] == max(updates.values()) == 130


def test_the_newest_states_are_kept_to_be_averaged(run):
    ended = run(checkpoints={"monitor": "val/nll", "average": 3, "every_updates": 1})
    steps = [name for name in ended.checkpoints if name.startswith("step_")]
    assert steps == ["step_0000004", "step_0000005", "step_0000006"]


def test_a_checkpoint_holds_all_that_is_needed(good_run):
    """Field cases 82 to 86; opened with ``weights_only=True``."""
    for contents in good_run.checkpoints.values():
        about = contents["latimer"]
        assert (about["format"], about["version"]) == (1, __version__)
        assert about["hyperparameters"]["d_model"] == 32
        assert len(about["tokenizer"]) > 100
        assert (about["source_language"], about["target_language"]) == ("en", "de")
        assert check(about["config"], RunConfig) == good_run.config
        assert set(about["scores"]) <= {f"val/{name}" for name in SCORES}


SCORES = ("nll", "perplexity", "bleu", "chrf", "length_ratio")


def test_lightning_writes_and_reads_through_our_door(tmp_path):
    """Field case 82: what could run code is neither written nor read, whatever is asked for."""
    door, path = SafeCheckpointIO(), tmp_path / "one.ckpt"
    contents = {"latimer": {"format": 1}, "state_dict": {"w": torch.ones(2)}}
    door.save_checkpoint(contents, path)
    assert torch.equal(door.load_checkpoint(path)["state_dict"]["w"], torch.ones(2))
    with pytest.raises(LatimerError, match="only tensors and plain Python values"):
        door.save_checkpoint({**contents, "extra": tmp_path}, path)
    torch.save({"latimer": {"format": 1}, "extra": tmp_path}, path)
    with pytest.raises(LatimerError, match="can run code"):
        door.load_checkpoint(path, weights_only=False)
    door.remove_checkpoint(path)
    assert not path.exists()


def test_a_checkpoint_claims_no_scores_that_other_weights_earned(good_run):
    for name, contents in good_run.checkpoints.items():
        scores = contents["latimer"]["scores"]
        expected = set() if name.startswith("step_") else {f"val/{score}" for score in SCORES}
        assert set(scores) == expected, name
