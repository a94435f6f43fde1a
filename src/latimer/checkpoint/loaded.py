"""From a checkpoint to a model that can translate."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from latimer import __version__
from latimer.checkpoint.file import read_checkpoint
from latimer.checkpoint.location import find_checkpoint
from latimer.errors import LatimerError
from latimer.model import Transformer
from latimer.tokenizer import TOKENIZER_NAMES, Tokenizer, Tokenizers

MODEL_PREFIX = "model."


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A trained model and all that belongs to it.

    Attributes:
        model: in evaluation mode, on the CPU, in float32.
        tokenizers: those that it was trained with.
        source_language: what it translates from.
        target_language: what it translates to.
        updates: optimizer updates behind these weights.
        config: the whole configuration of the run, as plain values.
        path: the file; of a mean that was never written to one, what it is called, in their folder.
        sha256: the file's hash, in hexadecimal digits; of such a mean, that of its contents.
        averaged: the updates of the states that the weights are the mean of; none for most.
    """

    model: Transformer
    tokenizers: Tokenizers
    source_language: str
    target_language: str
    updates: int
    config: dict[str, Any]
    path: Path
    sha256: str
    averaged: tuple[int, ...] = ()


def load_model(path: str | Path) -> LoadedModel:
    """Rebuilds a model from its checkpoint alone.

    Args:
        path: a file, or a run's folder for its best checkpoint.

    Raises:
        LatimerError: as :func:`read_checkpoint`; or tokenizers and weights do not belong together.
    """
    path = find_checkpoint(path)
    return rebuild(read_checkpoint(path), path, sha256=_hash(path))


def rebuild(contents: dict[str, Any], path: Path, *, sha256: str) -> LoadedModel:
    """The model in the contents of a checkpoint.

    Raises:
        LatimerError: tokenizers and weights do not belong together, or the version that wrote it
            knew other hyper-parameters; the message names ``path``.
    """
    about = contents["latimer"]
    tokenizers = _load_tokenizers(about, path)
    return LoadedModel(
        model=_transformer(contents, tokenizers, path),
        tokenizers=tokenizers,
        source_language=about["source_language"],
        target_language=about["target_language"],
        updates=about["updates"],
        config=about["config"],
        path=path,
        sha256=sha256,
        averaged=tuple(about.get("averaged", ())),
    )


def load_weights(contents: dict[str, Any]) -> dict[str, Tensor]:
    """The model's own state in the contents of a checkpoint, whose other names are Lightning's."""
    return {
        name.removeprefix(MODEL_PREFIX): tensor
        for name, tensor in contents["state_dict"].items()
        if name.startswith(MODEL_PREFIX)
    }


def _load_tokenizers(about: dict[str, Any], path: Path) -> Tokenizers:
    stored = [name for name in TOKENIZER_NAMES if name in about]
    return Tokenizers.from_named({name: _load_tokenizer(name, about, path) for name in stored})


def _load_tokenizer(name: str, about: dict[str, Any], path: Path) -> Tokenizer:
    # The hash first: bytes that are not the ones that were stored need not be parsed.
    found, wanted = hashlib.sha256(about[name]).hexdigest(), about[f"{name}_sha256"]
    if found != wanted:
        raise LatimerError(
            f"{path}: the {name.replace('_', ' ')} is not the one that the model was trained with: "
            f"its SHA-256 is {found}, the model's {wanted}"
        )
    return Tokenizer(about[name])


def _transformer(contents: dict[str, Any], tokenizers: Tokenizers, path: Path) -> Transformer:
    hyperparameters = contents["latimer"]["hyperparameters"]
    for side, tokenizer in tokenizers._asdict().items():
        rows = hyperparameters[f"{side}_vocab_size"]
        if rows != tokenizer.vocab_size:
            raise LatimerError(
                f"{path}: the {side} tokenizer has {tokenizer.vocab_size} pieces, but the "
                f"model's {side} embedding has {rows} rows"
            )
    try:
        model = Transformer(**hyperparameters)
    except (TypeError, ValueError) as error:
        version = contents["latimer"].get("version", "unknown")
        raise LatimerError(
            f"{path}: written by latimer {version}, whose hyper-parameters are not those of "
            f"{__version__}: {error}"
        ) from error
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
