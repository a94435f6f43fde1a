"""A whole run: what it leaves behind, and that every key of its configuration does something."""

import json
import re

import pytest
import torch
import yaml

from latimer.checkpoint import load_model
from latimer.config.check import check
from latimer.config.run import RunConfig

FILES = {
    "config.yaml",
    "environment.json",
    "train.log",
    "data.json",
    "run.md",
    "checkpoints/best.ckpt",
    "checkpoints/last.ckpt",
    "checkpoints/averaged.ckpt",
    "checkpoints/final.json",
    "checkpoints/step_0000120.ckpt",
    "checkpoints/step_0000130.ckpt",
    *(f"samples/update_{update:07}.txt" for update in (30, 60, 90, 120, 130)),
    *(f"evaluation/first/{name}.txt" for name in ("translations", "references")),
    *(f"evaluation/first/{name}" for name in ("result.json", "report.html")),
}


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_files_of_a_run(good_run):
    files = {
        str(path.relative_to(good_run.folder))
        for path in good_run.folder.rglob("*")
        if path.is_file()
    }
    events = {name for name in files if name.startswith("events.out.tfevents.")}
    assert len(events) == 1  # field case 121
    assert files - events == FILES
    assert not any(re.search(r"[= ,\[\]]", name) for name in files)  # field case 131


def test_nothing_is_written_elsewhere_but_prepared_data(good_run, short_run, workplace):
    prepared = workplace / "prepared"
    others = {
        path.relative_to(workplace).parts[0]
        for path in workplace.rglob("*")
        if not path.is_relative_to(prepared) and path.is_file()
    }
    splits = {
        f"{split}.{side}" for split in ("train", "validation", "first") for side in ("en", "de")
    }
    assert others == {"runs", *splits}
    assert list((workplace / "launched_here").iterdir()) == []
    assert {*(workplace / "runs" / "toy").iterdir()} == {good_run.folder, short_run.folder}


def test_the_configuration_is_written_and_can_be_used_again(good_run):
    text = (good_run.folder / "config.yaml").read_text(encoding="utf-8")
    assert check(yaml.safe_load(text), RunConfig) == good_run.config


def test_the_counts_of_the_data_add_up(good_run, short_run):
    data = read_json(good_run.folder / "data.json")
    train = data["train"]
    assert train["read"] == train["kept"] + sum(train["dropped"].values()) == 96
    assert (data["validation"]["read"], data["test"]["first"]["read"]) == (12, 10)
    assert f"│ kept           │     {train['kept']} │" in good_run.shown
    # field case 16: what was prepared is found again
    assert (data["cache"], read_json(short_run.folder / "data.json")["cache"]) == ("miss", "hit")


def test_the_log_holds_what_the_screen_showed(good_run):
    log = (good_run.folder / "train.log").read_text(encoding="utf-8")
    assert log == good_run.shown


def test_the_page_of_a_run(good_run):
    page = (good_run.folder / "run.md").read_text(encoding="utf-8")
    bleu = read_json(good_run.folder / "evaluation" / "first" / "result.json")["scores"]["BLEU"]
    assert f"| first | 10 | {bleu['score']:.2f} |" in page
    assert f"`{bleu['signature']}`" in page
    for part in ("toy: en → de", "| read | 96 | 100.0% |", "revision `", "## To repeat it"):
        assert part in page


def test_the_end_says_what_to_type_next(good_run):
    """Field case 123: the very commands, with paths that exist."""
    [curves] = re.findall(r"tensorboard --logdir (\S+)\n(?=evaluate)", good_run.shown)
    assert good_run.folder.is_relative_to(curves)
    [checkpoint] = re.findall(r"python evaluate.py checkpoint=(\S+)", good_run.shown)
    result = read_json(good_run.folder / "evaluation" / "first" / "result.json")
    assert load_model(checkpoint).sha256 == result["checkpoint_sha256"]
    assert good_run.shown.count("  hypothesis ") == 5 * 2 + 4


def test_a_seed_decides_everything(run, short_run):
    """Field case 68."""
    again, other = run(), run(seed=2)
    assert torch.equal(again.weights, short_run.weights)
    assert not torch.allclose(other.weights, short_run.weights)
    for tag in ("train/loss", "train/grad_norm", "val/nll"):
        assert again.curve(tag) == short_run.curve(tag)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("data.cleaning.max_length", 12),
        ("tokenizer.vocab_size", 80),
        ("model.dropout", 0.3),
        ("model.heads", 4),
        ("model.d_k", 4),
        ("model.d_v", 4),
        ("model.norm_position", "pre"),
        ("model.norm", "rms"),
        ("model.tying", "none"),
        ("optimizer.beta1", 0.5),
        ("optimizer.beta2", 0.5),
        ("optimizer.epsilon", 1e-3),
        ("schedule.rate", 2e-3),
        ("schedule.warmup_updates", 2),
        ("schedule", {"kind": "paper", "warmup_updates": 4, "factor": 0.1}),
        ("trainer.gradient_clip", 0.01),
        ("trainer.precision", "bf16-mixed"),
        ("trainer.max_updates", 5),
        ("loss.label_smoothing", 0.2),
        ("batches.max_tokens", 128),
        ("batches.accumulation", 2),
    ],
)
def test_what_changes_a_training(run, short_run, key, value):
    changed = run(**{key: value}).weights
    assert len(changed) != len(short_run.weights) or not torch.equal(changed, short_run.weights)


def test_what_does_not_change_a_training(run, short_run):
    """Field case 68: not even by one bit."""
    watched = run(
        batches__loader_workers=2,
        trainer__log_every_updates=1,
        validation={
            "every_updates": 2,
            "bleu_sentences": 3,
            "sample_sentences": 0,
            "attention_sentences": 0,
            "max_tokens": 64,
            "patience": None,
        },
        checkpoints={
            "monitor": "val/chrf",
            "best": 1,
            "newest": 0,
            "every_updates": 1,
            "average": "newest",
        },
        decoding__beam_size=1,
        logger={},
    )
    assert torch.equal(watched.weights, short_run.weights)


def test_the_profiler_prints_a_table(run):
    shown = run(trainer__profiler="simple")
    log = (shown.folder / "train.log").read_text(encoding="utf-8")
    assert "training_step" in shown.shown + log


def test_the_log_names_the_normalisation(good_run):
    """Field case 27."""
    assert "nmt_nfkc" in good_run.shown
