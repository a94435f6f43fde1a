"""Reversing digits is learnt from any start: attention finds places, and post-norm trains.

Field case 54.
"""

import random
from pathlib import Path

import pytest

from latimer.config.check import check
from latimer.config.run import RunConfig
from latimer.screen import Screen
from latimer.training.run import train
from toy_run import merge, toy_settings

SETTINGS = {
    "tokenizer.vocab_size": 25,  # four special ones, ten digits, and what leads to them
    "model.d_model": 64,
    "model.heads": 4,
    "model.d_ff": 128,
    "model.dropout": 0.0,
    "schedule.rate": 3e-3,
    "schedule.warmup_updates": 100,
    "trainer.max_updates": 1000,
    "trainer.log_every_updates": 100,
    "loss.label_smoothing": 0.0,
    "batches.max_tokens": 1024,
    "validation.every_updates": 500,
    "checkpoints.newest": 5,
    "checkpoints.every_updates": 40,
    "decoding.beam_size": 1,
}


def write_reversals(folder: Path, split: str, pairs: int, seed: int) -> dict[str, str]:
    """Three to eight digits, and the same from the end to the beginning."""
    dice = random.Random(seed)
    rows = [[str(dice.randrange(10)) for _ in range(dice.randint(3, 8))] for _ in range(pairs)]
    path = folder / f"{split}.tsv"
    lines = [f"{' '.join(row)}\t{' '.join(reversed(row))}\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")
    return {"file": str(path)}


def read_tokens(path: Path) -> list[list[str]]:
    return [line.split(" ") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def token_accuracy(hypotheses: list[list[str]], references: list[list[str]]) -> float:
    """The share of places with the right token; a missing or additional one is wrong."""
    pairs = list(zip(hypotheses, references, strict=True))
    right = sum(a == b for pair in pairs for a, b in zip(*pair, strict=False))
    return right / sum(max(map(len, pair)) for pair in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_digits_are_reversed(tmp_path, seed):
    settings = merge(toy_settings(tmp_path), {**SETTINGS, "seed": seed})
    settings["data"] |= {
        "train": write_reversals(tmp_path, "train", 8000, seed),
        "validation": write_reversals(tmp_path, "validation", 100, 98),
        "test": {"digits": write_reversals(tmp_path, "test", 200, 99)},
    }
    folder = train(check(settings, RunConfig), Screen()) / "evaluation" / "digits"
    texts = (read_tokens(folder / f"{name}.txt") for name in ("translations", "references"))
    assert token_accuracy(*texts) >= 0.99


def test_what_counts_as_accurate():
    assert token_accuracy([["1", "2"], ["3"]], [["1", "2"], ["3"]]) == 1.0
    assert token_accuracy([["1", "2"], []], [["2", "2"], ["3", "4"]]) == 0.25
    assert token_accuracy([["1", "2", "3"]], [["1", "2"]]) == 2 / 3
