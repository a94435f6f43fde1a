"""``latimer compare``: settings and scores of runs side by side, and what it refuses."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from latimer.errors import LatimerError
from latimer.evaluation import evaluate
from latimer.evaluation.compare import compare_runs
from latimer.scoring import paired_scores
from latimer.screen import Screen

CONFIG = {
    "seed": 1,
    "model": {"heads": 2, "max_length": None, "norm": "layer"},
    "data": {"test": {}},
    "callbacks": {},
}


@pytest.fixture
def make_evaluated(make_run, make_config):
    """A run folder with a configuration, a checkpoint and its results on the test set news."""

    def make(name="one", config=None, evaluation=None, **arguments) -> Path:
        checkpoint = make_run(name, **arguments)
        folder = checkpoint.parents[1]
        (folder / "config.yaml").write_text(yaml.safe_dump({**CONFIG, **(config or {})}))
        evaluate(make_config(checkpoint, **(evaluation or {})), Screen())
        return folder

    return make


@pytest.fixture
def compare(capsys):
    """What is shown of a comparison."""

    def show(*folders: Path) -> str:
        capsys.readouterr()
        compare_runs(folders, Screen())
        return capsys.readouterr().out

    return show


def rows(shown: str) -> list[list[str]]:
    """The cells of all tables."""
    lines = [line for line in shown.split("\n") if "│" in line]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def read_lines(path):
    return path.read_bytes().decode().split("\n")[:-1]


def test_only_the_settings_that_differ_are_shown(make_evaluated, compare):
    model = {"heads": 4, "max_length": 128, "norm": "layer"}
    other = {"model": model, "callbacks": {"mine": {"_target_": "my.Callback"}}}
    shown = rows(compare(make_evaluated(), make_evaluated("two", other)))
    end = next(number for number, row in enumerate(shown) if row[0] == "BLEU")
    assert shown[:end] == [
        ["model.heads", "2", "4"],
        ["model.max_length", "null", "128"],
        ["callbacks.mine._target_", "(none)", "my.Callback"],
    ]


def test_scores_stand_beside_their_tests(make_evaluated, compare):
    one, two = make_evaluated(), make_evaluated("two", {"seed": 2}, seed=2)
    shown = compare(one, two)
    news = [folder / "evaluation" / "news" for folder in (one, two)]
    references = read_lines(news[0] / "references.txt")
    hypotheses = [read_lines(folder / "translations.txt") for folder in news]
    compared = paired_scores(hypotheses, references, target_language="yy")
    expected = []
    for metric, written in zip(compared, ("BLEU", "chrF2++"), strict=True):
        results = [json.loads((folder / "result.json").read_text("utf-8")) for folder in news]
        scores = [result["scores"][written]["score"] for result in results]
        difference = metric[1].difference
        expected += [(written, "1", f"{scores[0]:.2f}", "", "", "")]
        p_values = (f"{difference.p_bootstrap:.4f}", f"{difference.p_randomisation:.4f}")
        change = f"{scores[1] - scores[0]:+.2f}"
        expected += [("", "2", f"{scores[1]:.2f}", change, *p_values)]
    without_intervals = [[re.sub(r" \(.*\)", "", cell) for cell in row] for row in rows(shown)]
    assert without_intervals == [["seed", "1", "2"], *map(list, expected)]
    assert "run 1: " + str(one) in shown
    assert compared[0][0].metric.signature in shown
    assert f"BLEU differs in {compared[0][1].difference.lines} lines of run 2; " in shown
    assert "40 lines" in shown


def test_a_run_does_not_differ_from_itself(make_evaluated, compare):
    one = make_evaluated()
    shown = rows(compare(one, one, one))
    assert [row[0] for row in shown] == ["BLEU", "", "", "chrF2++", "", ""]
    for row in shown:
        if row[1] != "1":
            assert row[3:] == ["+0.00 (+0.00 to +0.00)", "1.0000", "1.0000"]


def test_another_search_is_a_difference_that_is_said(make_evaluated, compare):
    greedy = {"decoding": {"beam_size": 1}}
    shown = rows(compare(make_evaluated(updates=9), make_evaluated("two", evaluation=greedy)))
    assert shown[:2] == [["updates", "9", "100"], ["decoding.beam_size", "3", "1"]]


def test_results_of_one_run_alone_are_left_out_and_named(make_evaluated, make_config, compare):
    one, two = make_evaluated(), make_evaluated("two")
    checkpoint = one / "checkpoints" / "best.ckpt"
    evaluate(make_config(checkpoint, {"beam_size": 1}), Screen())
    assert "not every run has it: news-2" in compare(one, two)
    (two / "evaluation" / "news").rename(two / "evaluation" / "sports")
    with pytest.raises(LatimerError, match=r"no test set .* all .*one: news, news-2; .*: sports"):
        compare(one, two)


CHANGES = {
    "source": ("old boat", "source sentences differ"),
    "target": ("old boat", "references differ"),
}


@pytest.mark.parametrize(("side", "change"), CHANGES.items(), ids=CHANGES)
def test_other_test_sets_are_refused(make_evaluated, compare, data, side, change):
    one = make_evaluated()
    file = Path(data["test"]["news"][side])
    file.write_text("\n".join([change[0], *file.read_text("utf-8").split("\n")[1:]]), "utf-8")
    with pytest.raises(LatimerError, match=change[1]):
        compare(one, make_evaluated("two"))


def test_another_way_of_scoring_is_refused(make_evaluated, compare):
    two = make_evaluated("two", evaluation={"lowercase": True})
    with pytest.raises(LatimerError, match=r"'lowercase': False.* and with .*'lowercase': True"):
        compare(make_evaluated(), two)


FAULTS = {
    "other translations": (
        "translations.txt",
        lambda t: t.replace(" ", " x "),
        "but result.json",
    ),
    "a line too few": ("translations.txt", lambda t: t[t.index("\n") + 1 :], "39 lines .* of 40"),
    "half a result": ("result.json", lambda t: t[:99], "result.json: is broken"),
}


@pytest.mark.parametrize(("name", "change", "message"), FAULTS.values(), ids=FAULTS)
def test_changed_files_are_found(make_evaluated, compare, name, change, message):
    one, two = make_evaluated(), make_evaluated("two")
    file = two / "evaluation" / "news" / name
    file.write_text(change(file.read_text("utf-8")), "utf-8")
    with pytest.raises(LatimerError, match=message):
        compare(one, two)


def test_what_is_no_evaluated_run_is_refused(make_evaluated, compare, tmp_path):
    one, two = make_evaluated(), make_evaluated("two")
    with pytest.raises(LatimerError, match=r"runs: is no run.* write .*runs/\*"):
        compare(one, one.parent)
    with pytest.raises(LatimerError, match=r"is no run.* such as runs/"):
        compare(one, tmp_path / "nothing")
    shutil.rmtree(two / "evaluation")
    with pytest.raises(LatimerError, match=r"no evaluation.* evaluate.py checkpoint=.*two"):
        compare(one, two)
    with pytest.raises(LatimerError, match="two runs or more"):
        compare(one)
