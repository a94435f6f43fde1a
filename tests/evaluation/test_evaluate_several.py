"""Several checkpoints in one evaluation, each tested against the first."""

import json
import re
import shutil

import pytest
from datasets import Dataset

from latimer.checkpoint import load_model, write_checkpoint
from latimer.config.check import check
from latimer.config.evaluate import EvaluateConfig
from latimer.errors import LatimerError
from latimer.evaluation import EvaluationSettings, evaluate, evaluate_test_sets
from latimer.evaluation.saved import read_run
from latimer.evaluation.systems import load_systems
from latimer.scoring import paired_scores
from latimer.screen import Screen


@pytest.fixture
def few_resamplings(monkeypatch):
    """For tests that look at other things than the tests' outcome."""
    monkeypatch.setattr("latimer.scoring.paired.TRIALS", 50)


def read_result(folder):
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def cells(shown):
    lines = [line for line in shown.split("\n") if "│" in line]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_each_is_scored_tested_against_the_first_and_kept_in_its_own_run(
    make_run, make_config, news_lines, capsys
):
    one, two = make_run("one"), make_run("two", seed=2)
    config = make_config([one, two.parents[1]])
    first, second = evaluate(config, Screen())
    shown = capsys.readouterr().out
    assert [first.system, second.system] == ["one", "two"]
    assert first.folder == one.parents[1] / "evaluation" / "news"
    assert second.folder == two.parents[1] / "evaluation" / "news"
    [alone] = evaluate(make_config(two, output_folder=str(two.parent / "alone")), Screen())
    assert second.texts == alone.texts
    assert second.scores == alone.scores

    texts = [first.texts, second.texts]
    expected = paired_scores(texts, news_lines[1], target_language="yy", bootstrap=100)
    differences = [systems[1].difference for systems in expected]
    [compared] = read_result(second.folder)["compared_with"]
    assert compared["checkpoint_sha256"] == load_model(one).sha256
    assert compared["checkpoint"] == str(one)
    assert compared["result"] == str(first.folder)
    for name, difference in zip(("BLEU", "chrF2++"), differences, strict=True):
        assert compared["differences"][name] == {
            "score": difference.score,
            "confidence_95": list(difference.confidence),
            "lines_that_differ": difference.lines,
            "p_bootstrap": difference.p_bootstrap,
            "p_randomisation": difference.p_randomisation,
        }
    assert differences[0].score == second.scores.bleu.score - first.scores.bleu.score
    assert read_result(first.folder)["compared_with"] == []
    rows = cells(shown)
    assert [row[:2] for row in rows if row[0] == "news"] == [["news", "one"], ["news", "two"]]
    tested = [row for row in rows if row[0] in ("BLEU", "chrF2++", "")]
    assert [row[1] for row in tested] == ["one", "two", "one", "two"]
    for row, difference in zip(tested[1::2], differences, strict=True):
        assert re.match(re.escape(f"{difference.score:+.2f} ("), row[3])
        p_values = [f"{difference.p_bootstrap:.4f}", f"{difference.p_randomisation:.4f}"]
        assert row[4:] == p_values
        assert f" differs in {difference.lines} lines of system two; " in shown
    assert "news: 40 lines, tested against one" in shown


def test_what_a_later_evaluation_leaves_of_a_comparison(make_run, make_config, few_resamplings):
    """A result is the same one alone and beside others, and all comparisons of it stay."""
    one, two, three = (make_run(name, seed=n) for n, name in enumerate(("one", "two", "three"), 1))
    evaluate(make_config([one, three]), Screen())
    folder = three.parents[1] / "evaluation" / "news"
    before = read_result(folder)["compared_with"]
    evaluate(make_config(three), Screen())
    assert read_result(folder)["compared_with"] == before
    evaluate(make_config([two, three]), Screen())
    evaluate(make_config([two, three]), Screen())
    compared = read_result(folder)["compared_with"]
    assert [entry["checkpoint"] for entry in compared] == [str(one), str(two)]
    assert compared[:1] == before
    assert [path.name for path in folder.parent.iterdir()] == ["news"]
    (folder.parents[1] / "config.yaml").write_text("seed: 1\n")
    assert read_run(folder.parents[1]).results["news"].numbers["compared_with"] == compared
    (folder / "translations.txt").write_text("other translations\n" * 40)
    evaluate(make_config(three), Screen())
    assert read_result(folder)["compared_with"] == []


def test_no_resampling_no_tests(make_run, make_config, capsys):
    one, two = make_run("one"), make_run("two", seed=2)
    results = evaluate(make_config([one, two], bootstrap=0), Screen())
    assert "tested against" not in capsys.readouterr().out
    assert [read_result(result.folder)["compared_with"] for result in results] == [[], []]


def test_results_in_one_folder_stay_apart(make_run, make_config, tmp_path):
    one, two = make_run("one"), make_run("two", seed=2)
    config = make_config([one, two], bootstrap=0, output_folder=str(tmp_path / "all"))
    for _ in "12":
        folders = [result.folder for result in evaluate(config, Screen())]
        assert folders == [tmp_path / "all" / name for name in ("news", "news-2")]
    written = [read_result(folder)["checkpoint_sha256"] for folder in folders]
    assert written == [load_model(path).sha256 for path in (one, two)]


def test_each_run_s_best_state_and_its_mean(write, make_config, tmp_path):
    runs = [tmp_path / "runs" / name for name in ("one", "two")]
    for number, run in enumerate(runs):
        for seed in (1, 2):
            write(run, f"step_000{seed}.ckpt", seed=10 * number + seed, updates=seed)
        write(run, seed=10 * number + 3)
    systems = load_systems(make_config(runs, average=2))
    mean = "average of the 2 newest"
    names = ["one/best.ckpt", f"one/{mean}", "two/best.ckpt", f"two/{mean}"]
    assert [system.name for system in systems] == names
    assert [system.folder.parent for system in systems] == [runs[0]] * 2 + [runs[1]] * 2


def test_the_same_state_twice_is_refused(make_run, make_config, tmp_path):
    one, copy = make_run("one"), tmp_path / "copy.ckpt"
    shutil.copy(one, copy)
    for other in (one, one.parents[1], copy):
        with pytest.raises(LatimerError, match=r"^checkpoint: .*best\.ckpt and .* the same state"):
            evaluate(make_config([one, make_run("two", seed=2), other]), Screen())


def test_another_direction_is_refused_by_name(make_run, make_config, make_contents, tmp_path):
    # field case 19
    contents = make_contents(seed=2)
    contents["latimer"] |= {"source_language": "yy", "target_language": "xx"}
    write_checkpoint(contents, tmp_path / "turned.ckpt")
    with pytest.raises(LatimerError, match=r"one.*translates xx to yy, but .*turned\.ckpt yy to"):
        evaluate(make_config([make_run("one"), tmp_path / "turned.ckpt"]), Screen())


SCORINGS = {
    "lowercase": ({"lowercase": True, "bleu_tokenizer": None}, "write lowercase=false or lowerc"),
    "bleu_tokenizer": (
        {"lowercase": False, "bleu_tokenizer": "none"},
        "write bleu_tokenizer=13a or bleu_tokenizer=none",
    ),
}


@pytest.mark.parametrize(("key", "scoring", "advice"), [(k, *v) for k, v in SCORINGS.items()])
def test_other_ways_of_scoring_are_refused_unless_one_is_asked_for(
    make_run, make_config, key, scoring, advice
):
    runs = [make_run("one"), make_run("two", seed=2, config={"scoring": scoring})]
    with pytest.raises(LatimerError, match=rf"^{key}: .*{advice}"):
        evaluate(make_config(runs), Screen())
    systems = load_systems(make_config(runs, **{key: scoring[key]}))
    assert {getattr(system.settings, key) for system in systems} == {scoring[key]}


def test_the_usual_tokenizer_is_the_one_of_that_name(make_run, make_config):
    scoring = {"lowercase": False, "bleu_tokenizer": "13a"}
    runs = [make_run("one"), make_run("two", seed=2, config={"scoring": scoring})]
    assert len(load_systems(make_config(runs))) == 2


def test_an_ensemble_joins_one_checkpoint(make_run, make_config):
    one, two, three = (make_run(name) for name in ("one", "two", "three"))
    with pytest.raises(LatimerError, match=r"^ensemble: joins one checkpoint"):
        make_config([one, two], ensemble=[str(three)])
    assert make_config([one], ensemble=[str(three)]).checkpoints == [str(one)]


@pytest.mark.parametrize("wrong", [5, [], [""], ["a", None], ""], ids=str)
def test_what_is_no_checkpoint(wrong):
    with pytest.raises(LatimerError, match=r"checkpoint.*: must be a path, or a list of paths"):
        check({"checkpoint": wrong}, EvaluateConfig)


@pytest.fixture
def reports(monkeypatch):
    """The arguments of each report that is asked for, in place of the report."""
    asked = []

    def write(path, results, translators, compared):
        assert all((result.folder / "result.json").exists() for result in results)
        asked.append((path, results, translators, compared))

    monkeypatch.setattr("latimer.evaluation.test_sets.write_report", write)
    return asked


def test_a_report_of_all_systems_lies_beside_the_first_result(
    make_run, make_config, reports, few_resamplings, capsys
):
    runs = [make_run("one"), make_run("two", seed=2)]
    first, second = evaluate(make_config(runs, report=True), Screen())
    [(path, results, translators, compared)] = reports
    assert path.parent == first.folder
    assert re.fullmatch(r"report-[0-9a-f]{8}\.html", path.name)
    assert [result.texts for result in results] == [first.texts, second.texts]
    assert [one.translate(first.sources) for one in translators] == [first.texts, second.texts]
    assert [[score.metric.name for score in systems] for systems in compared] == [
        ["BLEU", "BLEU"],
        ["chrF2++", "chrF2++"],
    ]
    assert f"report: {path}" in capsys.readouterr().out


def test_each_company_of_systems_has_a_page_of_its_own(make_run, make_config, reports):
    one, two, three = make_run("one"), make_run("two", seed=2), make_run("three", seed=3)
    for runs in (one, [one, two], [one, three], [one, two]):
        evaluate(make_config(runs, bootstrap=0, report=True), Screen())
    alone, with_two, with_three, with_two_again = [path for path, *_ in reports]
    assert alone.name == "report.html"
    assert len({alone, with_two, with_three}) == 3
    assert with_two == with_two_again


def test_no_report_unless_it_is_wanted(make_run, make_config, reports):
    evaluate(make_config(make_run(), bootstrap=0, report=False), Screen())
    assert reports == []


def test_a_training_ends_with_a_report(make_run, reports, make_config, tmp_path):
    run = make_run()
    [system] = load_systems(make_config(run))
    settings = EvaluationSettings(decoding=system.settings.decoding, bootstrap=0, device="cpu")
    pairs = Dataset.from_dict({"source": ["the red boat"], "target": ["the boat"]})
    evaluate_test_sets(
        load_model(run), {"a": pairs, "b": pairs}, settings, folder=tmp_path, screen=Screen()
    )
    assert [path for path, *_ in reports] == [tmp_path / name / "report.html" for name in "ab"]
    assert [compared for *_, compared in reports] == [(), ()]
