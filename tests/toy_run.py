"""A run that fits into a test: a toy corpus in files, and settings for a model of its own."""

import json
import random
from pathlib import Path
from typing import Any

WORDS = {
    "red": "rot", "blue": "blau", "green": "gruen", "boat": "Boot", "house": "Haus",
    "door": "Tuer", "kettle": "Kessel", "old": "alt", "new": "neu", "on": "auf",
    "the": "das", "is": "ist", "a": "ein", "here": "hier", "cold": "kalt", "today": "heute",
}  # fmt: skip
MUON = {
    "kind": "muon",
    "momentum": 0.9,
    "weight_decay": 0.1,
    "beta1": 0.9,
    "beta2": 0.98,
    "epsilon": 1e-9,
}


def write_pairs(folder: Path, split: str, pairs: int, seed: int) -> dict[str, str]:
    """Two aligned files of word-by-word translations of four to nine words."""
    dice = random.Random(seed)
    source, target = [], []
    for _ in range(pairs):
        words = dice.choices(sorted(WORDS), k=dice.randint(4, 9))
        source.append(" ".join(words))
        target.append(" ".join(WORDS[word] for word in words))
    paths = {"source": folder / f"{split}.en", "target": folder / f"{split}.de"}
    for side, lines in (("source", source), ("target", target)):
        paths[side].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {side: str(path) for side, path in paths.items()}


def merge(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Puts dotted keys into nested sections."""
    for key, value in changes.items():
        *sections, leaf = key.split(".")
        place = base
        for section in sections:
            place = place[section]
        place[leaf] = value
    return base


def toy_settings(folder: Path) -> dict[str, Any]:
    """Every key of a configuration, for a model that trains in a second."""
    return {
        "name": "toy",
        "seed": 1,
        "mode": "new",
        "resume": None,
        "resume_reset": [],
        "init_from": None,
        "init_from_partial": None,
        "freeze": [],
        "dry_run": False,
        "run_folder": None,
        "sweep_folder": None,
        "runs_folder": str(folder / "runs"),
        "prepared_folder": str(folder / "prepared"),
        "data": {
            "format": "files",
            "source_language": "en",
            "target_language": "de",
            "cleaning": {
                "max_length": 64,
                "max_ratio": 9.0,
                "drop_duplicates": True,
                "drop_copies": True,
                "drop_in_test": True,
            },
            "train": write_pairs(folder, "train", 96, 1),
            "validation": write_pairs(folder, "validation", 12, 2),
            "test": {"first": write_pairs(folder, "first", 10, 3)},
        },
        "tokenizer": {
            "vocabulary": "joint",
            "model_type": "bpe",
            "vocab_size": 90,
            "character_coverage": 1.0,
            "normalization": "nmt_nfkc",
            "byte_fallback": False,
            "bpe_dropout": 0.0,
            "file": None,
        },
        "model": {
            "d_model": 16,
            "d_k": None,
            "d_v": None,
            "heads": 2,
            "d_ff": 32,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "activation": "relu",
            "dropout": 0.1,
            "attention_dropout": 0.0,
            "feed_forward_dropout": 0.0,
            "norm_position": "post",
            "norm": "layer",
            "positions": "sinusoidal",
            "max_length": None,
            "tying": "all",
        },
        "optimizer": {"kind": "adam", "beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9},
        "schedule": {"kind": "inverse_square_root", "warmup_updates": 4, "rate": 3e-3},
        "trainer": {
            "accelerator": "cpu",
            "devices": 1,
            "precision": "float32",
            "max_updates": 6,
            "max_epochs": None,
            "max_time": None,
            "gradient_clip": 1.0,
            "profiler": None,
            "log_every_updates": 2,
        },
        "loss": {"label_smoothing": 0.1},
        "batches": {"max_tokens": 256, "accumulation": 1, "loader_workers": 0},
        "validation": {
            "every_updates": 3,
            "bleu_sentences": 6,
            "sample_sentences": 2,
            "attention_sentences": 1,
            "max_tokens": 512,
            "patience": None,
        },
        "checkpoints": {
            "monitor": "val/nll",
            "best": 1,
            "newest": 2,
            "every_updates": 2,
            "average": "newest",
        },
        "scoring": {"bleu_tokenizer": None, "lowercase": False},
        "decoding": {
            "method": "beam",
            "beam_size": 2,
            "length_penalty": 0.6,
            "coverage_penalty": 0.0,
            "no_repeat_ngram": 0,
            "beam_groups": 1,
            "diversity_penalty": 0.0,
            "max_length_factor": 1.0,
            "max_length_offset": 5,
            "min_length": 1,
            "n_best": 1,
            "max_tokens": 1024,
        },
        "callbacks": {},
        "logger": {"tensorboard": {"_target_": "latimer.training.tensorboard.TensorBoard"}},
    }


GOOD_ENOUGH = {
    "model.d_model": 32,
    "model.d_ff": 64,
    "model.dropout": 0.0,
    "schedule.rate": 0.01,
    "schedule.warmup_updates": 20,
    "trainer.max_updates": 130,
    "trainer.log_every_updates": 20,
    "validation.every_updates": 30,
    "checkpoints.every_updates": 10,
}
"""Enough for some BLEU, and so much that the likelihood grows worse again before the end."""


def dotted(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested sections as one level of dotted keys; the other way round than :func:`merge`."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            flat.update(dotted(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def toy_overrides(folder: Path, changes: dict[str, Any] | None = None) -> list[str]:
    """The same settings as arguments of ``train.py``, with the given dotted keys changed."""
    settings = {**dotted(toy_settings(folder)), **(changes or {})}
    written = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in settings.items()
        if not key.startswith(("logger", "callbacks"))
    ]
    return ["data=files", *written]
