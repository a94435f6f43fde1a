"""``hydra/sweeper=optuna``: a search that survives failures and interruptions."""

import sys
from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir

from latimer.config.compose import run_config
from latimer.errors import LatimerError
from latimer.sweeps.study import Study

SPACE = {"model.dropout": "interval(0.0, 0.5)", "schedule.rate": "tag(log, interval(1e-4, 1e-2))"}
CONF = Path(__file__).parents[2] / "conf"


def train_config(*overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return run_config(compose("train", list(overrides)), Path.cwd())


@pytest.fixture
def search(sweep, trainings):
    """A search for the dropout whose score is the highest: 0.3."""
    trainings.score = lambda settings: -abs(settings["model.dropout"] - 0.3)

    def run(*arguments, trials=6, space=SPACE, seed=1, **keys):
        sweeper = Study(trials=trials, random_trials=3, seed=seed, params=space)
        return sweep(*arguments, sweeper=sweeper, **keys)

    return run


def settings(ended):
    return [job["settings"] for job in ended.jobs]


def test_trials_lie_in_the_space(search, trainings):
    ended = search("seed=2")
    assert (ended.ended, ended.complaints) == (None, "")
    assert ended.statuses == ["finished"] * 6
    assert all(0.0 <= job["model.dropout"] <= 0.5 for job in trainings.began)
    assert all(1e-4 <= job["schedule.rate"] <= 1e-2 for job in trainings.began)
    assert {job["seed"] for job in trainings.began} == {2}
    assert len({job["model.dropout"] for job in trainings.began}) == 6


@pytest.mark.parametrize("monitor", ["val/bleu", "val/nll"])
def test_the_search_goes_in_the_direction_of_the_score(search, trainings, monitor):
    sign = 1 if monitor == "val/bleu" else -1
    trainings.score = lambda settings: -sign * abs(settings["model.dropout"] - 0.3)
    search(trials=12, space={"model.dropout": "interval(0.0, 0.5)"}, monitor=monitor)
    misses = [abs(job["model.dropout"] - 0.3) for job in trainings.began]
    by_chance = (0.3**2 + 0.2**2) / 2 / 0.5  # the mean over the interval
    assert sum(misses[-6:]) / 6 < by_chance


def test_whole_numbers_and_choices(search, trainings):
    space = {"model.heads": "int(interval(1, 8))", "model": "tiny,small"}
    trainings.score = lambda settings: 1.0
    search(space=space)
    assert {type(job["model.heads"]) for job in trainings.began} == {int}
    assert {job["model"] for job in trainings.began} <= {"tiny", "small"}


def test_a_failed_trial_does_not_end_the_search(search, trainings):
    def happen(settings, _folder):
        if len(trainings.began) == 2:
            raise LatimerError("became nan")

    trainings.happens = happen
    ended = search()
    assert ended.statuses == ["finished", "failed", *["finished"] * 4]
    assert "of the jobs failed" in str(ended.ended)


def test_a_stopped_search_goes_on_as_if_it_had_not_stopped(search, trainings, tmp_path):
    whole = search(trials=8)

    def happen(settings, folder):
        if not stopped and folder.name == "03":
            stopped.append(folder)
            (folder / "checkpoints" / "last.ckpt").touch()
            raise SystemExit(130)

    stopped = []
    trainings.happens = happen
    trainings.began.clear()
    first = search(trials=8, sweep_folder=tmp_path / "again")
    assert (first.ended.code, first.statuses) == (130, ["finished", "finished", "stopped"])
    second = search(trials=8, sweep_folder=first.folder)
    assert settings(second) == settings(whole)
    assert [job.get("resume") for job in trainings.began].count(str(stopped[0])) == 1
    assert len(trainings.began) == 9


def test_a_finished_search_goes_on_with_more_trials(search, trainings):
    first = search(trials=3)
    before = settings(first)
    second = search(trials=5, sweep_folder=first.folder)
    assert settings(second)[:3] == before
    assert len(trainings.began) == 5


def test_another_search_in_the_same_folder_is_refused(search, trainings):
    first = search("seed=2", trials=3)
    for arguments, space in ((["seed=3"], SPACE), (["seed=2"], {"model.dropout": "0.1,0.2"})):
        ended = search(*arguments, space=space, sweep_folder=first.folder)
        assert "whose scores say nothing about" in str(ended.ended)
    assert len(trainings.began) == 3


def test_the_command_line_wins_over_the_space(search, trainings):
    search("schedule.rate=0.5", "++seed=3")
    assert {job["schedule.rate"] for job in trainings.began} == {0.5}


def test_nothing_to_search_is_refused(search, tmp_path):
    ended = search("seed=3", space={})
    assert "nothing to search" in str(ended.ended)
    assert list(tmp_path.iterdir()) == []


def test_without_optuna_it_says_what_to_install(search, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "optuna", None)
    ended = search()
    assert "pip install 'latimer[sweeps]'" in str(ended.ended)
    assert list(tmp_path.iterdir()) == []


def test_the_shipped_space_has_sensible_values(search, trainings):
    shipped = yaml.safe_load((CONF / "hydra/sweeper/optuna.yaml").read_text(encoding="utf-8"))
    search(trials=3, space=shipped["params"])
    for job in trainings.began:
        config = train_config(*(f"{key}={job[key]}" for key in shipped["params"]))
        assert config.schedule.rate == job["schedule.rate"]
