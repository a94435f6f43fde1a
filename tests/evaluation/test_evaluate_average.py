"""The mean of a run's states beside its best one, made for the evaluation alone."""

import json
import re

import pytest
import torch

from latimer.checkpoint import average, load_model, load_weights
from latimer.checkpoint.location import write_final
from latimer.errors import LatimerError
from latimer.evaluation import evaluate
from latimer.evaluation.systems import load_systems
from latimer.screen import Screen


@pytest.fixture
def run_folder(tmp_path, write):
    """A run with four newest states and three best ones, which monitored the likelihood."""
    folder = tmp_path / "runs" / "one"
    for number in (10, 20, 30, 40):
        write(folder, f"step_00000{number}.ckpt", seed=number, updates=number)
    checkpoints = {"checkpoints": {"monitor": "val/nll"}}
    for number, nll in ((15, 2.0), (25, 1.0), (35, 3.0)):
        scores = {"val/nll": nll, "val/bleu": 5.0}
        name = f"best_00000{number}.ckpt"
        write(folder, name, scores, checkpoints, seed=number, updates=number)
    write(folder, "best.ckpt", {"val/nll": 1.0}, checkpoints, seed=25, updates=25)
    return folder


@pytest.mark.parametrize(
    ("average_of", "count", "updates"),
    [
        ("newest", 2, (30, 40)),
        ("newest", 4, (10, 20, 30, 40)),
        ("best", 2, (15, 25)),
        ("best", 3, (15, 25, 35)),
    ],
)
def test_which_states_are_averaged(run_folder, make_config, average_of, count, updates):
    """The best ones by the score that the run monitored."""
    config = make_config(run_folder, average=count, average_of=average_of)
    best, mean = load_systems(config)
    assert (best.name, mean.name) == ("best.ckpt", f"average of the {count} {average_of}")
    assert best.loaded.sha256 == load_model(run_folder / "checkpoints" / "best.ckpt").sha256
    assert mean.loaded.averaged == updates
    kind = {"newest": "step", "best": "best"}[average_of]
    paths = [run_folder / "checkpoints" / f"{kind}_00000{number}.ckpt" for number in updates]
    for name, weight in load_weights(average(paths)).items():
        assert torch.equal(mean.loaded.model.state_dict()[name], weight)


def test_both_are_scored_in_one_table_and_keep_their_results_apart(run_folder, make_config, capsys):
    before = sorted((run_folder / "checkpoints").iterdir())
    results = evaluate(make_config(run_folder, average=2), Screen())
    shown = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("│")[1:3]] for line in shown.split("\n")]
    assert [row for row in rows if row[:1] == ["news"]] == [
        ["news", "best.ckpt"],
        ["news", "average of the 2 newest"],
    ]
    for result in results:
        assert f"{result.system}: BLEU {result.scores.bleu.score:.2f}" in shown
    assert "average of the 2 newest, the mean of the states after 30, 40 updates" in shown
    assert re.search(r"best\.ckpt, 25 updates", shown)
    folders = [run_folder / "evaluation" / name for name in ("news", "news-2")]
    assert [result.folder for result in results] == folders
    written = [json.loads((folder / "result.json").read_text("utf-8")) for folder in folders]
    assert [one.get("averaged") for one in written] == [None, [30, 40]]
    assert written[0]["checkpoint_sha256"] != written[1]["checkpoint_sha256"]
    assert results[0].texts != results[1].texts
    # The same again finds its own folders; another average gets a new one. No checkpoint is left.
    evaluate(make_config(run_folder, average=2), Screen())
    evaluate(make_config(run_folder, average=3), Screen())
    names = sorted(folder.name for folder in (run_folder / "evaluation").iterdir())
    assert names == ["news", "news-2", "news-3"]
    assert sorted((run_folder / "checkpoints").iterdir()) == before


def test_an_average_that_cannot_be_made(run_folder, make_config):
    file = run_folder / "checkpoints" / "best.ckpt"
    wrong = [
        (make_config(run_folder, average=5), r"has 4 step_.*write average=4, or .*newest=5"),
        (make_config(run_folder, average=4, average_of="best"), r"has 3 best_.*\.best=4"),
        (make_config(file, average=2), r"average=2: .*best\.ckpt is a file; write the folder"),
    ]
    for config, message in wrong:
        with pytest.raises(LatimerError, match=message):
            evaluate(config, Screen())
    for path in run_folder.glob("checkpoints/step_*[1-3]0.ckpt"):
        path.unlink()
    with pytest.raises(
        LatimerError, match=r"has 1 step_\*\.ckpt, and an average takes two or more"
    ):
        evaluate(make_config(run_folder, average=2), Screen())


def test_what_says_nothing_is_refused(run_folder, make_config):
    with pytest.raises(LatimerError, match=r"average_of=best: .*write average=N as well"):
        make_config(run_folder, average_of="best")
    with pytest.raises(LatimerError, match=r"average=1: must be at least 2"):
        make_config(run_folder, average=1)


def test_a_run_folder_stands_for_what_the_run_was_judged_by(run_folder, make_config, write, capsys):
    write(run_folder, "averaged.ckpt", seed=9, updates=40)
    write_final(run_folder / "checkpoints", "averaged.ckpt", {})
    evaluate(make_config(run_folder), Screen())
    assert (
        f"checkpoint {run_folder}/checkpoints/averaged.ckpt, 40 updates" in capsys.readouterr().out
    )
    [best, _] = load_systems(make_config(run_folder, average=2))
    assert best.loaded.path.name == "best.ckpt"
