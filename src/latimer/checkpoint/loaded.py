"""From a checkpoint to a model that can translate."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from latimer.checkpoint.file import read_checkpoint
from latimer.checkpoint.location import find_checkpoint
from latimer.errors import LatimerError
from latimer.model import Transformer
from latimer.tokenizer import Tokenizer

MODEL_PREFIX = "model."


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A trained model and all that belongs to it.

    Attributes:
        model: in evaluation mode, on the CPU, in float32.
        tokenizer: the one that it was trained with.
        source_language: what it translates from.
        target_language: what it translates to.
        updates: optimizer updates behind these weights.
        config: the whole configuration of the run, as plain values.
        path: the file.
        sha256: the file's hash, in hexadecimal digits.
    """

    model: Transformer
    tokenizer: Tokenizer
    source_language: str
    target_language: str
    updates: int
    config: dict[str, Any]
    path: Path
    sha256: str


def load_model(path: str | Path) -> LoadedModel:
    """Rebuilds a model from its checkpoint alone.

    Args:
        path: a file, or a run's folder for its best checkpoint.

    Raises:
        LatimerError: as :func:`read_checkpoint`; or tokenizer and weights do not belong together.
    """
    path = find_checkpoint(path)
    contents = read_checkpoint(path)
    about = contents["latimer"]
    tokenizer = _load_tokenizer(about, path)
    return LoadedModel(
        model=_rebuild(contents, tokenizer, path),
        tokenizer=tokenizer,
        source_language=about["source_language"],
        target_language=about["target_language"],
        updates=about["updates"],
        config=about["config"],
        path=path,
        sha256=_hash(path),
    )


def load_weights(contents: dict[str, Any]) -> dict[str, Tensor]:
    """The model's own state in the contents of a checkpoint, whose other names are Lightning's."""
    return {
        name.removeprefix(MODEL_PREFIX): tensor
        for name, tensor in contents["state_dict"].items()
        if name.startswith(MODEL_PREFIX)
    }


def _load_tokenizer(about: dict[str, Any], path: Path) -> Tokenizer:
    # The hash first: bytes that are not the ones that were stored need not be parsed.
    found = hashlib.sha256(about["tokenizer"]).hexdigest()
    if found != about["tokenizer_sha256"]:
        raise LatimerError(
            f"{path}: the tokenizer is not the one that the model was trained with: its SHA-256 "
            f"is {found}, the model's {about['tokenizer_sha256']}"
        )
    return Tokenizer(about["tokenizer"])


def _rebuild(contents: dict[str, Any], tokenizer: Tokenizer, path: Path) -> Transformer:
    hyperparameters = contents["latimer"]["hyperparameters"]
    for side in ("source", "target"):
        rows = hyperparameters[f"{side}_vocab_size"]
        if rows != tokenizer.vocab_size:
            raise LatimerError(
                f"{path}: the tokenizer has {tokenizer.vocab_size} pieces, but the model's "
                f"{side} embedding has {rows} rows"
            )
    model = Transformer(**hyperparameters)
    try:
        model.load_state_dict(load_weights(contents))
    except RuntimeError as error:
        raise LatimerError(
            f"{path}: the weights do not fit the stored hyper-parameters: {error}"
        ) from error
    return model.eval()


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
