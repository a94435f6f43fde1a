import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from latimer.checkpoint import load_model
from latimer.errors import LatimerError
from latimer.evaluation import evaluate
from latimer.scoring import score
from latimer.screen import Screen


def read_lines(path):
    text = path.read_bytes().decode()
    assert text.endswith("\n")
    return text.split("\n")[:-1]


def read_result(run, name="news"):
    path = run.parents[1] / "evaluation" / name / "result.json"
    return json.loads(path.read_text(encoding="utf-8"))


def copy_of_weights(model):
    return {name: weight.clone() for name, weight in model.state_dict().items()}


def test_what_is_written_and_shown(make_run, make_config, news_lines, capsys):
    # field cases 8, 21, 104, 117
    run = make_run()
    [result] = evaluate(make_config(run), Screen())
    folder = run.parents[1] / "evaluation" / "news"
    sources, references = news_lines
    translations = read_lines(folder / "translations.txt")
    assert sorted(path.name for path in folder.iterdir()) == [
        "references.txt",
        "result.json",
        "translations.txt",
    ]
    assert read_lines(folder / "references.txt") == references
    assert len(translations) == 40
    assert translations[5] == ""
    assert translations == result.texts
    written = read_result(run)
    assert written["sentences"] == 40
    assert written["counts"]["blank_sources"] == 1
    expected = score(translations, references, target_language="yy", bootstrap=100)
    assert written["scores"]["BLEU"] == {
        "score": expected.bleu.score,
        "confidence_95": list(expected.bleu.confidence),
        "signature": expected.bleu.signature,
    }
    assert written["length_ratio"] == expected.length_ratio
    assert written["decoding"]["length_penalty"] == 0.6
    assert 40 < expected.bleu.score < 90, "no test if all is right or all is wrong"
    assert written["scores"]["TER"]["score"] == expected.ter.score
    copied = score(sources, references, target_language="yy", bootstrap=0)
    assert written["copy_bleu"] == copied.bleu.score
    assert written["checkpoint_sha256"] == load_model(run).sha256
    assert written["updates"] == 100
    shown = capsys.readouterr().out
    for part in (f"{expected.bleu.score:.2f} (", "chrF2++", str(folder), expected.bleu.signature):
        assert part in shown


def test_the_checkpoint_alone_gives_the_same_elsewhere(
    make_run, make_config, data, tmp_path, monkeypatch
):
    # field cases 83, 84
    run = make_run()
    evaluate(make_config(run), Screen())
    before = read_result(run)
    moved = tmp_path / "elsewhere" / "model.ckpt"
    moved.parent.mkdir()
    shutil.copy(run, moved)
    shutil.rmtree(tmp_path / "runs")
    monkeypatch.chdir(moved.parent)
    evaluate(make_config("model.ckpt"), Screen())
    after = json.loads((moved.parent / "evaluation" / "news" / "result.json").read_text("utf-8"))
    for key in ("scores", "counts", "decoding", "checkpoint_sha256", "test_set_sha256"):
        assert after[key] == before[key]


@pytest.mark.parametrize(
    ("scoring", "options"),
    [
        ({}, ""),
        ({"lowercase": True, "bleu_tokenizer": "intl"}, "-lc -tok intl"),
        ({"bleu_tokenizer": "none"}, "-tok none"),
    ],
)
def test_the_sacrebleu_command_prints_our_bleu(make_run, make_config, scoring, options):
    # field cases 104, 112
    run = make_run()
    evaluate(make_config(run, **scoring), Screen())
    written = read_result(run)
    command = written["check"].split()
    assert command[0] == "sacrebleu"
    assert set(options.split()) <= set(command)
    process = subprocess.run(
        [sys.executable, "-m", *command, "-b", "-w", "12"],
        cwd=run.parents[1] / "evaluation" / "news",
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.strip() == f"{written['scores']['BLEU']['score']:.12f}"


def test_evaluating_changes_nothing(make_run, make_config, monkeypatch):  # field case 90
    run = make_run()
    before = run.read_bytes()
    models = []

    def load_and_keep(path):
        loaded = load_model(path)
        models.append((loaded.model, copy_of_weights(loaded.model)))
        return loaded

    monkeypatch.setattr("latimer.evaluation.systems.load_model", load_and_keep)
    evaluate(make_config(run), Screen())
    [(model, weights)] = models
    assert all(weight.equal(weights[name]) for name, weight in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert run.read_bytes() == before


def test_a_result_is_replaced_only_by_the_same(make_run, make_config):
    run = make_run()
    evaluation = run.parents[1] / "evaluation"

    def folders():
        return sorted(folder.name for folder in evaluation.iterdir())

    evaluate(make_config(run), Screen())
    first = (evaluation / "news" / "result.json").read_bytes()
    evaluate(make_config(run, {"beam_size": 1}), Screen())
    assert folders() == ["news", "news-2"]
    assert (evaluation / "news" / "result.json").read_bytes() == first
    assert read_result(run, "news-2")["decoding"]["beam_size"] == 1
    evaluate(make_config(run, {"beam_size": 1}), Screen())
    evaluate(make_config(run, {"max_tokens": 50}), Screen())
    assert folders() == ["news", "news-2"]
    other = make_run("two", seed=2)
    evaluate(make_config(other, output_folder=str(evaluation)), Screen())
    evaluate(make_config(run, lowercase=True), Screen())
    assert folders() == ["news", "news-2", "news-3", "news-4"]


def test_an_interrupted_result_is_not_taken_for_one(make_run, make_config):
    run = make_run()
    half = run.parents[1] / "evaluation" / "news"
    half.mkdir(parents=True)
    (half / "translations.txt").write_text("half")
    evaluate(make_config(run), Screen())
    assert (half / "translations.txt").read_text() == "half"
    assert read_result(run, "news-2")["sentences"] == 40


TRAINED = {"bleu_tokenizer": "none", "lowercase": True}


@pytest.mark.parametrize(
    ("trained", "asked", "expected"),
    [
        (TRAINED, {}, TRAINED),
        (TRAINED, {"lowercase": False}, {"bleu_tokenizer": "none", "lowercase": False}),
        (TRAINED, {"bleu_tokenizer": "13a"}, {"bleu_tokenizer": "13a", "lowercase": True}),
        (None, {}, {"bleu_tokenizer": None, "lowercase": False}),
    ],
)
def test_scores_are_counted_as_in_the_run(make_run, make_config, data, trained, asked, expected):
    """Unless one asks for another way; older checkpoints do not tell of theirs."""
    references = Path(data["test"]["news"]["target"])
    text = references.read_text(encoding="utf-8").replace("the", "The ,the").title()
    references.write_text(text, encoding="utf-8")
    run = make_run(config={"scoring": trained} if trained else {})
    [result] = evaluate(make_config(run, **asked), Screen())
    assert read_result(run)["scoring"] == {"bootstrap": 100, **expected}
    again = score(result.texts, read_lines(references), target_language="yy", **expected)
    assert result.scores.bleu.score == again.bleu.score
    assert result.scores.bleu.signature == again.bleu.signature.replace("bs:1000", "bs:100")


def test_the_other_direction_is_refused(make_run, make_config, data):  # field case 19
    turned = {**data, "source_language": "yy", "target_language": "xx"}
    with pytest.raises(LatimerError, match="xx to yy, but the test sets go from yy to xx"):
        evaluate(make_config(make_run(), data=turned), Screen())


def test_sources_beyond_the_positions_are_cut_and_counted(make_run, make_config, capsys):
    # field case 21
    run = make_run(positions="learned", max_length=8)
    evaluate(make_config(run), Screen())
    written = read_result(run)
    assert written["sentences"] == 40
    assert written["counts"]["cut_sources"] > 0
    assert f"{written['counts']['cut_sources']} cut sources" in capsys.readouterr().out


def test_test_sets_that_are_gone(make_run, make_config, data):
    run = make_run()
    shutil.rmtree(run.parents[3] / "data")
    with pytest.raises(LatimerError, match=r"news\.xx(.|\n)*write data=\.\.\. to say where they"):
        evaluate(make_config(run), Screen())


def test_mistakes_are_found_before_anything_is_translated(
    make_run, make_config, monkeypatch, tmp_path
):
    run = make_run()
    monkeypatch.setattr("latimer.evaluation.run.evaluate_systems", None)
    (tmp_path / "file").write_text("")
    wrong = [
        (make_config(run, test_sets=["sports"]), r"'sports'; there are: news"),
        (make_config(run, {"n_best": 4}), r"n_best=4: must be at most beam_size=3"),  # case 103
        (make_config(run, output_folder=str(tmp_path / "file")), r"output_folder=.*this is a file"),
        (make_config(tmp_path / "no.ckpt"), r"no\.ckpt: there is no such checkpoint"),
    ]
    for config, message in wrong:
        with pytest.raises(LatimerError, match=message):
            evaluate(config, Screen())


def test_an_untrained_model_is_scored(make_run, make_config, data, make_sentences, capsys):
    # field cases 108, 116: all is wrong, and that is said
    news = {side: Path(data["test"]["news"][side]) for side in ("source", "target")}
    news["source"].write_text("".join(f"{line}\n" for line in make_sentences(120, 3)))
    news["target"].write_text("ZZZZ QQQQ WWWW VVVV\n" * 120)
    run = make_run()
    evaluate(make_config(run), Screen())
    assert read_result(run)["scores"]["BLEU"]["score"] == 0.0
    assert "BLEU is exactly 0 on 120 lines" in capsys.readouterr().out


def test_a_full_disk_is_said_and_leaves_no_half_file(make_run, make_config, monkeypatch):
    def full(self, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    run = make_run()
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(LatimerError, match=r"could not be written .No space left on device"):
        evaluate(make_config(run), Screen())
    assert list((run.parents[1] / "evaluation" / "news").iterdir()) == []


def test_evaluating_loads_no_training_library():
    program = "import sys, latimer.evaluation; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {"pytorch_lightning", "hydra", "latimer.training"} & set(result.stdout.split())
