"""COMET by a stand-in of its package: what it is given, what becomes of its scores.

The stand-in has the functions and arguments of unbabel-comet 2.2.
"""

import hashlib
import json
import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch

from latimer.errors import LatimerError
from latimer.evaluation import evaluate
from latimer.evaluation.comet import Comet, load_comet
from latimer.screen import Screen


class StandIn:
    """Scores a text by the share of the source's length that it has, from 0 to 1."""

    def predict(
        self,
        samples,
        batch_size=16,
        gpus=1,
        devices=None,
        mc_dropout=0,
        progress_bar=True,
        accelerator="auto",
        num_workers=None,
        length_batching=True,
    ):
        self.samples, self.place = samples, (gpus, devices, accelerator)
        assert not progress_bar
        scores = [min(1.0, len(one["mt"]) / max(1, len(one["src"]))) for one in samples]
        return {"scores": scores, "system_score": sum(scores) / len(scores)}


@pytest.fixture
def stand_in(monkeypatch):
    """The package ``comet``, whose model is the stand-in."""
    model, package = StandIn(), ModuleType("comet")

    def load_from_checkpoint(
        checkpoint_path, reload_hparams=False, strict=False, local_files_only=False
    ):
        assert local_files_only, "nothing may be downloaded"
        return model

    package.load_from_checkpoint, package.__version__ = load_from_checkpoint, "2.2.7"
    monkeypatch.setitem(sys.modules, "comet", package)
    return model


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "wmt22" / "checkpoints" / "model.ckpt"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"weights")
    return path


def test_comet_stands_beside_the_other_scores(
    stand_in, model_file, make_run, make_config, news_lines, capsys
):
    # field case 105
    run = make_run()
    [result] = evaluate(make_config(run, comet=str(model_file)), Screen())
    triples = [(one["src"], one["mt"], one["ref"]) for one in stand_in.samples]
    assert triples == list(zip(news_lines[0], result.texts, news_lines[1], strict=True))
    assert stand_in.place[0] == 0
    shares = [min(1.0, len(t) / max(1, len(s))) for s, t, _ in triples]
    sha256 = hashlib.sha256(b"weights").hexdigest()
    written = json.loads((result.folder / "result.json").read_text("utf-8"))
    comet = written["scores"]["COMET"]
    assert comet["score"] == pytest.approx(100 * sum(shares) / len(shares))
    assert comet["confidence_95"][0] < comet["score"] < comet["confidence_95"][1]
    assert comet["signature"] == f"model:model.ckpt|sha256:{sha256}|scale:100|version:2.2.7"
    assert any("times 100" in note for note in written["notes"])
    shown = capsys.readouterr().out
    assert "COMET x 100 (95%)" in shown
    assert f"COMET {comet['score']:.2f} {comet['signature']}" in shown


def test_a_result_with_comet_is_another_one_than_without(
    stand_in, model_file, make_run, make_config
):
    run = make_run()
    folders = []
    for comet in (None, str(model_file), None, str(model_file)):
        [result] = evaluate(make_config(run, comet=comet, bootstrap=0), Screen())
        assert (result.comet is None) is (comet is None)
        folders.append(result.folder.name)
    assert folders == ["news", "news-2", "news", "news-2"]
    assert result.comet.confidence is None


@pytest.mark.parametrize(
    ("device", "place"),
    [("cpu", (0, None, "auto")), ("cuda:1", (1, [1], "cuda")), ("mps", (1, [0], "mps"))],
)
def test_it_computes_where_the_translator_does(stand_in, device, place):
    comet = Comet(stand_in, "", "")
    metric = comet.score(["ab"], ["a"], ["b"], device=torch.device(device), bootstrap=0)
    assert stand_in.place == place
    assert metric.score == 50.0


def test_a_score_for_each_line_or_none(stand_in):
    broken = Comet(SimpleNamespace(predict=lambda *_, **__: {"scores": [0.5]}), "", "")
    with pytest.raises(LatimerError, match="1 scores for 2 lines"):
        broken.score(["a"] * 2, ["b"] * 2, ["c"] * 2, device=torch.device("cpu"), bootstrap=0)


def test_what_is_missing_is_said_before_anything_is_translated(
    model_file, make_run, make_config, monkeypatch
):
    monkeypatch.setattr("latimer.evaluation.run.load_systems", None)
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(
        LatimerError, match=r"needs the package unbabel-comet, .*tells how to install"
    ):
        evaluate(make_config(make_run(), comet=str(model_file)), Screen())
    with pytest.raises(LatimerError, match=r"comet=no\.ckpt: there is no such file"):
        evaluate(make_config(make_run(), comet="no.ckpt"), Screen())
    monkeypatch.setitem(sys.modules, "comet", ModuleType("comet"))
    with pytest.raises(LatimerError, match="the package comet that is there is another"):
        load_comet(str(model_file))


def test_a_file_that_comet_cannot_load(stand_in, model_file, monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("hparams.yaml file is missing")

    monkeypatch.setattr(sys.modules["comet"], "load_from_checkpoint", fails)
    with pytest.raises(LatimerError, match=r"cannot load it \(hparams\.yaml file is missing"):
        load_comet(str(model_file))
