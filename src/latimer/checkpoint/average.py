"""The mean of the weights of several checkpoints of a run (section 6.1)."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from latimer.checkpoint.file import read_checkpoint
from latimer.checkpoint.loaded import LoadedModel, rebuild
from latimer.errors import LatimerError
from latimer.tokenizer import TOKENIZER_NAMES

MUST_AGREE = (
    "hyperparameters",
    *(f"{name}_sha256" for name in TOKENIZER_NAMES),
    "source_language",
    "target_language",
)
OF_ONE_STATE = ("position", "random_states")
"""What a training goes on with, and a mean has not."""


def average(paths: Sequence[str | Path]) -> dict[str, Any]:
    """The contents of a checkpoint whose weights are the mean of those of the given ones.

    The sums are in float64. What is not a weight comes from the checkpoint with most updates,
    without the state of its training and without its scores: other weights have earned those.
    "averaged" lists the updates of the checkpoints that went into the mean.

    Args:
        paths: one checkpoint or more; their order does not matter.

    Raises:
        LatimerError: there are none, or they differ in hyper-parameters, tokenizers or languages.
    """
    if not paths:
        raise LatimerError("averaging: no checkpoints were given")
    abouts: list[dict[str, Any]] = []
    sums: dict[str, Tensor] = {}
    for path in paths:
        contents = read_checkpoint(path)
        abouts.append(contents["latimer"])
        _check_agreement(abouts[0], abouts[-1], paths[0], path)
        _add(sums, contents["state_dict"])
    newest = max(abouts, key=lambda about: int(about["updates"]))
    about = {key: value for key, value in newest.items() if key not in OF_ONE_STATE}
    updates = sorted(about["updates"] for about in abouts)
    means = {name: total / len(paths) for name, total in sums.items()}
    return {
        "latimer": {**about, "scores": {}, "averaged": updates},
        "state_dict": _as_before(means, contents["state_dict"]),
    }


def load_average(paths: Sequence[Path], name: str) -> LoadedModel:
    """The model whose weights are the mean of those of some checkpoints; no file is written.

    Args:
        paths: as in :func:`average`.
        name: what the mean is called.

    Raises:
        LatimerError: as :func:`average`, or the contents make no model.
    """
    contents = average(paths)
    return rebuild(contents, paths[-1].with_name(name), sha256=_hash(contents))


def describe_updates(updates: int, averaged: Sequence[int]) -> str:
    """How much training is behind some weights, or behind those that they are the mean of."""
    if averaged:
        states = ", ".join(f"{one:,}" for one in averaged)
        return f"the mean of the states after {states} updates"
    return f"{updates:,} updates"


def _hash(contents: dict[str, Any]) -> str:
    """Of what translations depend on."""
    digest = hashlib.sha256(repr([contents["latimer"].get(key) for key in MUST_AGREE]).encode())
    for name, weight in sorted(contents["state_dict"].items()):
        digest.update(name.encode())
        digest.update(weight.flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


def _check_agreement(
    first: dict[str, Any], other: dict[str, Any], first_path: str | Path, path: str | Path
) -> None:
    for key in MUST_AGREE:
        if first.get(key) != other.get(key):
            raise LatimerError(
                f"averaging: the {key} of {path} ({other.get(key)}) is not that of "
                f"{first_path} ({first.get(key)})"
            )


def _add(sums: dict[str, Tensor], weights: dict[str, Tensor]) -> None:
    for name, tensor in weights.items():
        if name in sums:
            sums[name] += tensor
        else:
            sums[name] = tensor.to(torch.float64)


def _as_before(means: dict[str, Tensor], weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The means in the types of the weights; matrices that were one (section 3.4) are one again."""
    made: dict[tuple[int, torch.Size], Tensor] = {}
    for name, tensor in weights.items():
        made.setdefault((tensor.data_ptr(), tensor.shape), means[name].to(tensor.dtype))
    return {name: made[tensor.data_ptr(), tensor.shape] for name, tensor in weights.items()}
