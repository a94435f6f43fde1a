"""The files that a run keeps: what is in them, and that the best one is the best."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from pytorch_lightning.trainer.states import TrainerFn

from latimer import __version__
from latimer.checkpoint import FORMAT, read_checkpoint, write_checkpoint
from latimer.config.check import check
from latimer.config.run import RunConfig
from latimer.errors import LatimerError
from latimer.training.best import ScoredState
from latimer.training.checkpoints import Checkpoints, SafeCheckpointIO

SCORES = ("nll", "perplexity", "bleu", "chrf", "length_ratio")


class StandInTrainer(SimpleNamespace):
    """Trains and validates on demand, with scores that are given; a file says what it is of."""

    def __init__(self, checkpoints: Checkpoints, update: int = 0) -> None:
        super().__init__(
            state=SimpleNamespace(fn=TrainerFn.FITTING),
            global_step=update,
            is_global_zero=True,
            ckpt_path=None,
            strategy=SimpleNamespace(broadcast=lambda value: value, barrier=lambda name: None),
        )
        self.checkpoints = checkpoints

    def train(self, updates: int = 100) -> None:
        for _ in range(updates):
            self.global_step += 1
            self.checkpoints.on_train_batch_end(self, None)

    def validate(self, score: float) -> None:
        task = SimpleNamespace(validation_scores={f"val/{name}": score for name in SCORES})
        self.checkpoints.on_validation_end(self, task)

    def save_checkpoint(self, path) -> None:
        about = {
            "format": FORMAT,
            "updates": self.global_step,
            "scores": self.checkpoints._scores_of(self.global_step),
        }
        write_checkpoint({"latimer": about, "state": self.checkpoints.state_dict()}, path)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    return tmp_path / "checkpoints"


@pytest.fixture
def make_checkpoints(make_config, folder):
    """Those of a run in ``folder``; monitored is BLEU, unless it is said otherwise."""

    def make(**changes):
        wanted = {"monitor": "val/bleu", "newest": 0, "every_updates": 100, "average": "none"}
        wanted = {"best": 1, **wanted, **changes}
        config = make_config(checkpoints=wanted)
        return Checkpoints(folder=folder, tokenizers=None, config=config)

    return make


def updates(folder) -> dict[str, int]:
    """The updates behind each file of a folder."""
    paths = sorted(folder.iterdir())
    return {path.stem: read_checkpoint(path)["latimer"]["updates"] for path in paths}


@pytest.mark.parametrize(
    ("monitor", "scores", "best"),
    [
        ("val/bleu", [5.0, 9.0, 7.0], 200),
        ("val/chrf", [9.0, 5.0, 7.0], 100),
        ("val/nll", [5.0, 3.0, 4.0], 200),
        ("val/perplexity", [5.0, 4.0, 3.0], 300),
        ("val/nll", [3.0, 3.0, 3.0], 100),
        ("val/bleu", [0.0, 0.0, 0.0], 100),
        # Too close for the float32 that Lightning keeps its metrics in.
        ("val/bleu", [30.0, 30.0 + 1e-9, 30.0], 200),
    ],
)
def test_the_best_is_the_best_in_the_direction_of_its_metric(
    make_checkpoints, folder, monitor, scores, best
):
    """Field cases 67 and 79; the last one is the last one whatever its score (81)."""
    checkpoints = make_checkpoints(monitor=monitor)
    trainer = StandInTrainer(checkpoints)
    for score in scores:
        trainer.train()
        trainer.validate(score)
        assert updates(folder)["last"] == trainer.global_step
    assert updates(folder) == {"best": best, "last": 300}
    assert checkpoints.best.best.update == best


def test_the_best_ones_are_kept(make_checkpoints, folder):
    """Of equal ones the earlier; a better one takes the place of the worst."""
    trainer = StandInTrainer(make_checkpoints(best=3))
    kept = []
    for score in (5.0, 9.0, 5.0, 4.0, 7.0, 9.0):
        trainer.train()
        trainer.validate(score)
        kept.append(updates(folder))
    assert kept[0] == {"best": 100, "best_0000100": 100, "last": 100}
    assert [sorted(set(files.values())) for files in kept[2:]] == [
        [100, 200, 300],
        [100, 200, 300, 400],
        [100, 200, 500],
        [200, 500, 600],
    ]
    assert kept[-1] == {
        **{f"best_0000{number}": number for number in (200, 500, 600)},
        "best": 200,
        "last": 600,
    }


def test_the_last_is_never_older_than_another(make_checkpoints, folder):
    """Field case 81: whatever is saved between validations."""
    trainer = StandInTrainer(make_checkpoints(newest=2, every_updates=3))
    seen = []
    for number in range(20):
        trainer.train(1)
        if number % 5 == 4:
            trainer.validate(20.0 - number)
        if there := updates(folder):
            assert there["last"] == max(there.values())
            seen.append(there["last"])
    assert seen[:5] == [3, 3, 5, 6, 6]
    assert not any(path.is_symlink() for path in folder.iterdir())
    before = (folder / "best.ckpt").read_bytes()
    (folder / "last.ckpt").unlink()
    (folder / "step_0000018.ckpt").unlink()
    assert (folder / "best.ckpt").read_bytes() == before


class KilledError(Exception):
    """In the place of a signal that nobody can catch."""


KILLED_AFTER = [
    *(("last.ckpt", moment) for moment in range(1, 8)),
    *(("best.ckpt", moment) for moment in (1, 2)),
    *((f"step_000000{number}.ckpt", 1) for number in (2, 4, 6, 8)),
    *((f"best_000000{number}.ckpt", 1) for number in (3, 6, 9)),
]


@pytest.mark.parametrize(("name", "moment"), KILLED_AFTER)
def test_a_run_killed_between_two_files_ends_with_the_same_ones(
    make_checkpoints, folder, monkeypatch, name, moment
):
    """Wherever that is, a run that goes on from ``last.ckpt`` keeps what a whole one keeps."""
    settings = {"best": 2, "newest": 2, "every_updates": 2}
    scores = {3: 5.0, 6: 9.0, 9: 7.0}

    def go_on(trainer):
        trainer.checkpoints.on_train_start(trainer, None)
        while trainer.global_step < 9:
            trainer.train(1)
            if trainer.global_step in scores:
                trainer.validate(scores[trainer.global_step])

    replace, times = Path.replace, []

    def replace_and_die(self, target):
        replace(self, target)
        times.extend([1] * (target.name == name))
        if len(times) == moment and target.name == name:
            raise KilledError

    killed = StandInTrainer(make_checkpoints(**settings))
    monkeypatch.setattr(Path, "replace", replace_and_die)
    with pytest.raises(KilledError):
        go_on(killed)
    monkeypatch.undo()
    (folder / ".step_0000008.ckpt.part").write_bytes(b"half a file, as kill -9 leaves it")
    state = read_checkpoint(folder / "last.ckpt")
    again = make_checkpoints(**settings)
    again.load_state_dict(state["state"])
    resumed = StandInTrainer(again, update=state["latimer"]["updates"])
    if resumed.global_step in scores and not state["latimer"]["scores"]:
        again.on_train_start(resumed, None)
        resumed.validate(scores[resumed.global_step])
    go_on(resumed)
    assert updates(folder) == {
        **{f"step_000000{number}": number for number in (6, 8)},
        **{f"best_000000{number}": number for number in (6, 9)},
        "best": 6,
        "last": 9,
    }
    assert again.best.validations_since_best == 1
    assert read_checkpoint(folder / "best.ckpt")["latimer"]["scores"]["val/bleu"] == 9.0


def test_what_was_saved_after_the_state_that_goes_on_is_forgotten(make_checkpoints, folder):
    """So is what tells of the end of the training, which is not yet."""
    trainer = StandInTrainer(make_checkpoints(best=2, newest=5))
    for score in (5.0, 9.0, 7.0):
        trainer.train()
        trainer.validate(score)
        if trainer.global_step == 200:
            state = trainer.checkpoints.state_dict()
    for name in ("averaged.ckpt", "final.json"):
        (folder / name).write_text("{}", encoding="utf-8")
    again = make_checkpoints(best=2, newest=5)
    again.load_state_dict(state)
    resumed = StandInTrainer(again, update=200)
    resumed.ckpt_path = folder / "step_0000200.ckpt"
    again.on_train_start(resumed, None)
    assert updates(folder) == {
        "best": 200,
        "best_0000200": 200,
        "last": 200,
        "step_0000100": 100,
        "step_0000200": 200,
    }
    # The other good state was forgotten for that of update 300, and there is no file of it.
    assert [state.update for state in again.best.states] == [200]


def test_the_best_score_is_remembered(make_checkpoints, folder):
    """Field case 78."""
    first, second = make_checkpoints(), make_checkpoints()
    trainer = StandInTrainer(first)
    trainer.train()
    trainer.validate(30.0)
    second.load_state_dict(first.state_dict())
    trainer = StandInTrainer(second, update=100)
    second.on_train_start(trainer, None)
    trainer.train()
    trainer.validate(29.0)
    assert updates(folder) == {"best": 100, "last": 200}


def test_kept_states_are_ranked_anew_by_another_monitor(make_checkpoints):
    first = make_checkpoints(best=2)
    for update, (bleu, nll) in enumerate([(30.0, 2.0), (31.0, 2.5)], start=1):
        first.best.add(ScoredState(update, {"val/bleu": bleu, "val/nll": nll}))
    assert first.best.best.update == 2
    second = make_checkpoints(best=2, monitor="val/nll")
    second.load_state_dict(first.state_dict())
    assert second.best.best.update == 1


KEPT = {
    "validation__every_updates": 1,
    "checkpoints": {
        "monitor": "val/bleu",
        "best": 3,
        "newest": 2,
        "every_updates": 2,
        "average": "best",
    },
    "callbacks": {
        "scores": {
            "_target_": "watchers.GiveScores",
            "bleu": {1: 9.0, 2: 5.0, 3: 8.0, 4: 9.0, 5: 7.0, 6: 1.0},
        }
    },
}


@pytest.mark.parametrize("stop", [None, 4])
def test_a_run_keeps_its_best_states_and_averages_them(run, stop):
    """Also across a stop, whose file carries which they are (field case 78)."""
    resume = str(run(**KEPT, trainer__max_updates=stop).folder) if stop else None
    ended = run(**KEPT, resume=resume)
    contents = ended.checkpoints
    updates = {name: one["latimer"]["updates"] for name, one in contents.items()}
    assert updates == {
        "averaged": 4,
        "best": 1,
        **{f"best_000000{number}": number for number in (1, 3, 4)},
        "last": 6,
        **{f"step_000000{number}": number for number in (4, 6)},
    }
    assert contents["averaged"]["latimer"]["averaged"] == [1, 3, 4]
    bleu = [contents[f"best_000000{n}"]["latimer"]["scores"]["val/bleu"] for n in (1, 3, 4)]
    assert bleu == [9.0, 8.0, 9.0]
    assert set(updates) == {path.stem for path in ended.folder.glob("checkpoints/*.ckpt")}


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
    ended = run(
        checkpoints={
            "monitor": "val/nll",
            "best": 1,
            "newest": 3,
            "every_updates": 1,
            "average": "newest",
        }
    )
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
