"""``python train.py -m key=a,b``: a folder for each job, and a record to go on from."""

import json

import pytest
from filelock import FileLock
from hydra.plugins.launcher import Launcher

from latimer.config.entry import JobError
from latimer.errors import LatimerError
from latimer.sweeps.grid import Grid


def stopping(seed, *, saved=True):
    """A signal stops the job with this seed; its state was saved, or there was none yet."""

    def stop(settings, folder):
        if settings["seed"] == seed:
            if saved:
                (folder / "checkpoints" / "last.ckpt").touch()
            raise SystemExit(130)

    return stop


def failing(seed):
    def fail(settings, _folder):
        if settings["seed"] == seed:
            raise LatimerError("the disk is full")

    return fail


def nothing(_settings, _folder):
    pass


def test_a_sweep_has_a_folder_with_those_of_its_jobs(sweep, trainings):
    ended = sweep("++seed=7,5", "model=tiny")
    assert (ended.ended, ended.complaints) == (None, "")
    assert ended.folder.parent.parts == ("runs", "search")
    assert ended.folder.name.endswith("_sweep")
    files = {path.name for path in ended.folder.iterdir()}
    assert files == {"01", "02", "sweep.json", "sweep.md"}
    assert trainings.began == [
        {"seed": 7, "model": "tiny", "run_folder": str(ended.folder / "01")},
        {"seed": 5, "model": "tiny", "run_folder": str(ended.folder / "02")},
    ]
    settings = [job["settings"] for job in ended.jobs]
    assert settings == [["seed=7", "model=tiny"], ["seed=5", "model=tiny"]]
    assert [job["score"] for job in ended.jobs] == [7.0, 5.0]


def test_a_folder_with_unusual_characters(sweep, trainings, tmp_path):
    folder = tmp_path / "läufe, 'a=1' \"b\" #2"
    sweep("seed=7", sweep_folder=folder)
    assert (folder / "01" / "run.md").exists()


def test_the_table_stands_on_the_screen_and_in_a_file(sweep):
    ended = sweep("seed=7,5", "model=tiny")
    rows = [line.split("│") for line in ended.shown.split("\n") if line.startswith("│")]
    cells = [[cell.strip() for cell in row[1:-2]] for row in rows]
    assert cells == [
        ["01 seed=7", "finished", "7.00", "12.35"],
        ["02 seed=5", "finished", "5.00", "12.35"],
    ]
    page = (ended.folder / "sweep.md").read_text(encoding="utf-8")
    assert "| 01 seed=7 | finished | 7.00 | 12.35 |" in page
    assert "`model=tiny`" in page


@pytest.mark.parametrize(("monitor", "best"), [("val/bleu", "01"), ("val/nll", "02")])
def test_the_best_job_is_that_of_the_better_direction(sweep, monitor, best):
    ended = sweep("seed=7,5", monitor=monitor)
    assert f"best {monitor}: job {best}, {ended.folder / best}" in ended.shown


# field case 138
def test_a_failure_is_noted_in_its_folder_at_once_and_the_others_go_on(sweep, trainings):
    logs = []

    def happen(settings, folder):
        failing(1)(settings, folder)
        logs.append((folder.parent / "01" / "error.log").read_text(encoding="utf-8"))

    trainings.happens = happen
    ended = sweep("seed=1,2", "model=tiny")
    assert logs == ["seed=1 model=tiny\n\nerror: the disk is full\n"]
    assert isinstance(ended.ended, JobError)
    assert ended.statuses == ["failed", "finished"]
    place = ended.folder / "01" / "error.log"
    assert f"job 01 failed: the disk is full ({place})" in ended.shown


def test_a_signal_ends_the_sweep_and_what_is_missing_is_said(sweep, trainings):
    trainings.happens = stopping(2)
    ended = sweep("seed=1,2,3")
    assert ended.ended.code == 130
    assert ended.statuses == ["finished", "stopped", "waiting"]
    assert [job["seed"] for job in trainings.began] == [1, 2]
    assert "not finished: 02, 03" in ended.shown
    assert f"the same command with sweep_folder={ended.folder}" in ended.shown


@pytest.mark.parametrize("status", ["stopped", "running"])  # by a signal, or killed
def test_a_sweep_goes_on(sweep, trainings, status):
    trainings.happens = stopping(2)
    first = sweep("seed=1,2,3")
    path = first.folder / "sweep.json"
    path.write_text(path.read_text(encoding="utf-8").replace("stopped", status), encoding="utf-8")
    trainings.began.clear()
    trainings.happens = nothing
    second = sweep("seed=1,2,3", sweep_folder=first.folder)
    assert (second.ended, second.complaints) == (None, "")
    assert second.folder == first.folder
    assert second.statuses == ["finished"] * 3
    assert [job["score"] for job in second.jobs] == [1.0, 2.0, 3.0]
    assert trainings.began == [
        {"resume": str(first.folder / "02")},
        {"seed": 3, "run_folder": str(first.folder / "03")},
    ]
    assert "job 02 of 03: seed=2 (goes on where it stopped)" in second.shown


def test_a_begun_job_without_a_saved_state_starts_anew(sweep, trainings):
    trainings.happens = stopping(2, saved=False)
    first = sweep("seed=1,2")
    (first.folder / "02" / "half").touch()
    trainings.began.clear()
    trainings.happens = nothing
    second = sweep("seed=1,2", sweep_folder=first.folder)
    assert trainings.began == [{"seed": 2, "run_folder": str(first.folder / "02")}]
    assert second.statuses == ["finished"] * 2
    assert not (first.folder / "02" / "half").exists()


def test_a_job_that_was_killed_after_its_last_file_is_finished(sweep, trainings):
    first = sweep("seed=1,2")
    content = json.loads((first.folder / "sweep.json").read_text(encoding="utf-8"))
    content["jobs"][1].update(status="running", score=None, bleu={})
    (first.folder / "sweep.json").write_text(json.dumps(content), encoding="utf-8")
    trainings.began.clear()
    second = sweep("seed=1,2", sweep_folder=first.folder)
    assert trainings.began == []
    assert [job["score"] for job in second.jobs] == [1.0, 2.0]


def test_jobs_are_known_by_their_settings_and_not_by_their_order(sweep, trainings):
    first = sweep("seed=1,2", "model=tiny")
    trainings.began.clear()
    second = sweep("model=tiny", "seed=3,2,1", sweep_folder=first.folder)
    place = str(first.folder / "03")
    assert trainings.began == [{"model": "tiny", "seed": 3, "run_folder": place}]
    assert [job["score"] for job in second.jobs] == [1.0, 2.0, 3.0]


def test_failed_jobs_are_tried_again(sweep, trainings):
    trainings.happens = failing(1)
    first = sweep("seed=1,2")
    trainings.began.clear()
    trainings.happens = nothing
    second = sweep("seed=1,2", sweep_folder=first.folder)
    assert (second.ended, second.statuses) == (None, ["finished"] * 2)
    assert [job["seed"] for job in trainings.began] == [1]
    assert "failed" not in second.shown
    assert not (first.folder / "01" / "error.log").exists()


def test_the_settings_of_a_file_give_way_to_those_of_the_command_line(sweep, trainings):
    sweep("seed=4", sweeper=Grid({"++seed": "1,2", "model": "tiny,small"}))
    found = [(job["seed"], job["model"]) for job in trainings.began]
    assert found == [(4, "tiny"), (4, "small")]


def test_another_launcher_is_given_all_jobs_at_once(sweep, trainings):
    class AllAtOnce(Launcher):
        def setup(self, **_arguments):
            pass

        def launch(self, job_overrides, initial_job_idx):
            return trainings.launch(job_overrides)

    trainings.happens = failing(2)
    ended = sweep("seed=1,2,3", launcher=AllAtOnce)
    assert trainings.together == [3]
    assert ended.statuses == ["finished", "failed", "finished"]


@pytest.mark.parametrize("setting", ["run_folder=x", "resume=x", "run_folder=x,y"])
def test_what_a_sweep_decides_is_refused(sweep, tmp_path, setting):
    ended = sweep(setting, "seed=1,2")
    assert f"{setting}: the jobs of a sweep have their folders" in str(ended.ended)
    assert list(tmp_path.iterdir()) == []


def test_an_interval_is_no_list_of_values(sweep, tmp_path):
    ended = sweep("model.dropout=interval(0,1)")
    assert str(ended.ended).startswith("model.dropout=interval(0,1): an interval is for a search")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_something_else_is_refused(sweep, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    ended = sweep("seed=1,2", sweep_folder="mine")
    assert "sweep_folder=mine: holds something that is no sweep" in str(ended.ended)
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "thesis.tex"]


def test_a_broken_record_is_refused(sweep):
    first = sweep("seed=1,2")
    (first.folder / "sweep.json").write_text('{"jobs": [{"no": 1}]}', encoding="utf-8")
    ended = sweep("seed=1,2", sweep_folder=first.folder)
    assert f"{first.folder / 'sweep.json'}: cannot be read" in str(ended.ended)


def test_another_score_than_that_of_the_sweep_is_refused(sweep):
    first = sweep("seed=1,2")
    ended = sweep("seed=1,2", sweep_folder=first.folder, monitor="val/nll")
    assert "compares its jobs by val/bleu" in str(ended.ended)


def test_two_processes_do_not_work_on_the_same_sweep(sweep, trainings):
    first = sweep("seed=1,2")
    trainings.began.clear()
    with FileLock(first.folder / ".lock"):
        ended = sweep("seed=3", sweep_folder=first.folder)
    assert "another process is working on this sweep" in str(ended.ended)
    assert trainings.began == []
