"""Validation: every so many updates across epochs, and by the very search of ``evaluate.py``."""

import re
from pathlib import Path

import pytest
import torch
from datasets import Dataset

from latimer.checkpoint import load_model
from latimer.config.decoding import DecodingConfig
from latimer.evaluation import EvaluationSettings, evaluate_test_sets
from latimer.screen import Screen
from latimer.training.task import TranslationTask
from latimer.training.validation import evenly_spaced


def validations(run):
    return list(run.curve("val/nll"))


@pytest.mark.parametrize(
    ("every", "last", "expected"),
    [
        (10, 25, [10, 20, 25]),  # field case 63: longer than an epoch
        (5, 10, [5, 10]),  # not twice at the end
        (1, 2, [1, 2]),
        (100, 7, [7]),
    ],
)
def test_validations_count_updates_across_epochs(run, every, last, expected):
    ended = run(
        validation__every_updates=every,
        trainer__max_updates=last,
        checkpoints__newest=0,
    )
    assert validations(ended) == expected
    assert len(list((ended.folder / "samples").iterdir())) == len(expected)


def test_a_validation_keeps_nothing_for_gradients(run, monkeypatch):
    """Field case 151: memory for these might be what it lacks."""
    seen, losses = set(), TranslationTask.losses

    def watched(task, *arguments):
        seen.add((task.trainer.validating, torch.is_grad_enabled()))
        return losses(task, *arguments)

    monkeypatch.setattr(TranslationTask, "losses", watched)
    run(trainer__max_updates=3)
    assert seen == {(False, True), (True, False)}


def validated_again(run, tmp_path, **changes):
    """Scores of the best checkpoint on the subset, by the door of ``evaluate.py``."""
    loaded = load_model(run.folder / "checkpoints" / "best.ckpt")
    lines = {}
    for side in ("source", "target"):
        path = Path(getattr(run.config.data.validation, side))
        rows = path.read_text(encoding="utf-8").split("\n")[:-1]
        lines[side] = [rows[row] for row in evenly_spaced(len(rows), 6)]
    decoding = DecodingConfig(**{**loaded.config["decoding"], **changes})
    [result] = evaluate_test_sets(
        loaded,
        {"subset": Dataset.from_dict(lines)},
        EvaluationSettings(decoding=decoding, bootstrap=0, device="cpu"),
        folder=tmp_path,
        screen=Screen(),
    )
    return loaded, result.scores


@pytest.mark.parametrize("batch", [16384, 20])
def test_the_score_of_a_validation_is_that_of_an_evaluation(good_run, tmp_path, batch):
    """Field cases 79 and 115: the best checkpoint has the very score that it was chosen by."""
    loaded, scores = validated_again(good_run, tmp_path, max_tokens=batch)
    stored = good_run.checkpoints["best"]["latimer"]["scores"]
    assert stored["val/bleu"] > 1.0
    assert scores.bleu.score == pytest.approx(stored["val/bleu"], abs=1e-9)
    assert scores.chrf.score == pytest.approx(stored["val/chrf"], abs=1e-9)
    assert scores.length_ratio == pytest.approx(stored["val/length_ratio"], abs=1e-9)
    assert loaded.updates == good_run.checkpoints["best"]["latimer"]["updates"]


def test_so_it_is_when_trained_in_bfloat16(run, tmp_path):
    """Field case 115: translating is done in float32 whatever the training does."""
    trained = run(
        trainer={
            **run().config.trainer.model_dump(),
            "precision": "bf16-mixed",
            "max_updates": 60,
        },
        model__d_model=32,
        model__dropout=0.0,
        schedule={"kind": "inverse_square_root", "warmup_updates": 20, "rate": 0.01},
        validation__every_updates=30,
        checkpoints={
            "monitor": "val/bleu",
            "best": 1,
            "newest": 0,
            "every_updates": 1,
            "average": "newest",
        },
    )
    _, scores = validated_again(trained, tmp_path)
    stored = trained.checkpoints["best"]["latimer"]["scores"]
    assert stored["val/bleu"] > 0.0
    assert scores.bleu.score == pytest.approx(stored["val/bleu"], abs=1e-9)


def test_the_likelihood_does_not_depend_on_the_batches(run, short_run):
    """Field case 61."""
    narrow = run(validation__max_tokens=20)
    assert narrow.curve("val/nll") == pytest.approx(short_run.curve("val/nll"), abs=1e-6)


def test_perplexity_is_that_of_the_unsmoothed_likelihood(good_run):
    """Field case 62."""
    scores = good_run.checkpoints["best"]["latimer"]["scores"]
    assert scores["val/perplexity"] == pytest.approx(2.718281828459045 ** scores["val/nll"])


def test_all_translations_of_a_validation_are_kept(good_run):
    """Field case 122, and 116: source, reference and hypothesis in plain text."""
    sources = (good_run.folder.parents[2] / "validation.en").read_text("utf-8").split("\n")[::2]
    for path in sorted((good_run.folder / "samples").iterdir()):
        lines = path.read_text(encoding="utf-8").split("\n")
        kinds = [line[2:13].strip() for line in lines]
        assert kinds == ["source", "reference", "hypothesis", ""] * 6
        assert [line[13:] for line in lines[::4]] == sources[:6]


def test_a_model_that_ignores_its_sources_is_doubted(run):
    """Field case 101."""
    ended = run(
        callbacks={"forget": {"_target_": "watchers.ForgetPieces"}},
        validation__bleu_sentences=12,
        decoding__max_length_factor=0.0,
        trainer__max_updates=1,
    )
    assert re.search("warning: [01] different translations of 12 different sources", ended.shown)
