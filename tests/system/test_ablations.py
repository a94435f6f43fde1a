"""Comparisons under a matched budget: the variants differ in one thing and nothing else."""

import sys
from types import SimpleNamespace

import pytest

from latimer.evaluation.compare import compare_runs
from latimer.screen import Screen
from toy_run import dotted, toy_overrides

VARIANTS = {
    "positions": [
        {"model.positions": "sinusoidal", "model.max_length": None},
        {"model.positions": "learned", "model.max_length": 256},
        {"model.positions": "rotary", "model.max_length": None},
    ],
    "norm_position": [{"model.norm_position": "post"}, {"model.norm_position": "pre"}],
    "label_smoothing": [{"loss.label_smoothing": share} for share in (0.1, 0.0, 0.2)],
    "heads": [{"model.heads": heads} for heads in (4, 1, 2, 8, 16)],
}


@pytest.fixture
def sweep(command, monkeypatch, tmp_path):
    """The configurations that a sweep would train with, as dotted keys."""

    def run(*arguments: str) -> list[dict]:
        configs = []
        training = SimpleNamespace(train=lambda config, _: configs.append(config))
        monkeypatch.setitem(sys.modules, "latimer.training.run", training)
        monkeypatch.setattr("latimer.sweeps.results.final_score", lambda *_: 0.0)
        monkeypatch.setattr("latimer.sweeps.results.bleu_scores", lambda _: {})
        ended = command("train.py", "-m", f"runs_folder={tmp_path}", *arguments)
        assert (ended.code, ended.complaints) == (0, "")
        return [dotted(config.model_dump()) for config in configs]

    return run


@pytest.mark.parametrize(("name", "variants"), VARIANTS.items(), ids=VARIANTS)
def test_the_variants_differ_in_nothing_else(sweep, name, variants):
    configs = sweep(f"experiment=ablation/{name}")
    assert [{key: config[key] for key in variants[0]} for config in configs] == variants
    for config in configs:
        assert {**config, **variants[0], "run_folder": configs[0]["run_folder"]} == configs[0]
    assert configs[0]["name"] == f"ablation-{name}"
    assert (configs[0]["seed"], configs[0]["trainer.max_updates"]) == (1, 1000)


def test_the_first_variant_is_what_all_comparisons_have_in_common(sweep):
    [common] = sweep("experiment=ablation/budget")
    for name, variants in VARIANTS.items():
        assert {key: common[key] for key in variants[0]} == variants[0], name


def test_the_command_line_wins_over_a_sweep(sweep):
    configs = sweep("experiment=ablation/heads", "model.heads=2", "seed=1,2")
    found = [(config["model.heads"], config["seed"]) for config in configs]
    assert found == [(2, 1), (2, 2)]
    [config] = sweep("experiment=ablation/positions", "+experiment/ablation/positions=learned")
    assert config["model.positions"] == "learned"


def test_a_sweep_can_be_compared(command, tmp_path, capsys):
    toy = [o for o in toy_overrides(tmp_path) if not o.startswith(("model.", "name="))]
    sizes = ["model.d_model=16", "model.d_ff=32", "model.encoder_layers=1"]
    ended = command("train.py", "-m", "experiment=ablation/positions", *toy, *sizes)
    assert (ended.code, ended.complaints) == (0, "")
    [folder] = (tmp_path / "runs" / "ablation-positions").iterdir()
    assert len(list(folder.glob("*/run.md"))) == 3
    compare_runs([folder], Screen())
    shown = capsys.readouterr().out
    keys = [line.split("│")[1].strip() for line in shown.split("\n") if line.startswith("│")]
    settings = ["model.positions", "model.max_length"]
    # The search stops where learned positions end, which is a difference of the evaluation.
    assert keys == [*settings, "decoding.max_length", "BLEU", "", "", "chrF2++", "", ""]
