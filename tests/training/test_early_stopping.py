"""A training ends when its monitored score has not grown better for some validations."""

from types import SimpleNamespace

import pytest
from pytorch_lightning.trainer.states import TrainerFn

from latimer.checkpoint import read_checkpoint
from latimer.screen import Screen
from latimer.training.best import BestStates, ScoredState
from latimer.training.patience import Patience


def ends_after(scores, patience, monitor="val/bleu", stored=None):
    """The number of the validation after which a training ends; None if it goes on."""
    best = BestStates(monitor, 1)
    if stored:
        best.load_state_dict(stored)
    callback = Patience(best, patience, Screen())
    for number, score in enumerate(scores, start=1):
        trainer = SimpleNamespace(
            state=SimpleNamespace(fn=TrainerFn.FITTING), global_step=number, should_stop=False
        )
        best.add(ScoredState(number, {monitor: score}))
        callback.on_validation_end(trainer, None)
        if trainer.should_stop:
            return number
    return None


@pytest.mark.parametrize(
    ("scores", "patience", "end"),
    [
        ([10, 9, 9, 9], 3, 4),  # field case 65
        ([10, 9, 9], 3, None),
        ([10, 9, 9, 11, 10, 10, 10], 3, 7),
        ([10, 10, 10], 2, 3),  # no better is as bad as worse
        ([10, 9], 1, 2),
        ([10, 9, 9, 9, 9], None, None),
        # A better one that float32 would not see.
        ([30.0, 29.0, 30.0 + 1e-9, 29.0], 2, None),
    ],
)
def test_patience_counts_validations(scores, patience, end):
    assert ends_after(scores, patience) == end


@pytest.mark.parametrize(("monitor", "end"), [("val/nll", None), ("val/chrf", 4)])
def test_it_knows_the_direction_of_the_score(monitor, end):
    assert ends_after([4.0, 3.0, 2.0, 1.0], 3, monitor) == end


def test_the_count_is_a_part_of_the_state():
    """Two of three validations before the stop, and the third after it."""
    best = BestStates("val/bleu", 1)
    for number, score in enumerate([10.0, 9.0, 9.0]):
        best.add(ScoredState(number, {"val/bleu": score}))
    assert ends_after([9.0], 3, stored=best.state_dict()) == 1
    assert ends_after([9.0], 3) is None


def test_it_is_not_asked_when_the_average_is_validated():
    best = BestStates("val/bleu", 1)
    best.validations_since_best = 9
    trainer = SimpleNamespace(state=SimpleNamespace(fn=TrainerFn.VALIDATING), should_stop=False)
    Patience(best, 1, Screen()).on_validation_end(trainer, None)
    assert not trainer.should_stop


SCORED = {
    "validation__every_updates": 2,
    "validation__patience": 2,
    "checkpoints__monitor": "val/bleu",
    "checkpoints__average": "newest",
    "trainer__max_updates": 20,
    "callbacks": {
        "scores": {"_target_": "watchers.GiveScores", "bleu": {2: 9.0, 4: 10.0, 6: 8.0, 8: 10.0}}
    },
}


def test_the_end_of_a_run_is_as_ever(run):
    """It is told, the validation that led to it is the last, and the average competes."""
    ended = run(**SCORED)
    assert list(ended.curve("val/nll")) == [2, 4, 6, 8]
    assert (
        "validation.patience=2: no better val/bleu than 10.0000 of update 4 in 2 validations; "
        "the training ends at update 8"
    ) in ended.shown
    contents = ended.checkpoints
    updates = {name: contents[name]["latimer"]["updates"] for name in ("best", "last")}
    assert updates == {"best": 4, "last": 8}
    assert contents["averaged"]["latimer"]["averaged"] == [6, 8]
    assert (ended.folder / "evaluation" / "first" / "result.json").is_file()
    assert (ended.folder / "run.md").is_file()


def test_a_stop_in_between_changes_nothing(run, make_config):
    first = run(**SCORED | {"trainer__max_updates": 6})
    stopped = read_checkpoint(first.folder / "checkpoints" / "last.ckpt")
    assert stopped["callbacks"]["Checkpoints"]["validations_since_best"] == 1
    ended = run(**SCORED, resume=str(first.folder))
    assert list(ended.curve("val/nll")) == [2, 4, 6, 8]
