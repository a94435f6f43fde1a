"""Checkpoints that translate together."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch

from latimer.checkpoint import LoadedModel
from latimer.decoding import Ensemble
from latimer.errors import LatimerError
from latimer.model import Transformer

TranslatingModel = Transformer | Ensemble
"""A model, or several Transformers as one."""


def join(loaded: Sequence[LoadedModel], device: torch.device) -> TranslatingModel:
    """The model of one checkpoint, or the ensemble of several, on a device.

    Raises:
        LatimerError: no checkpoint, or two that do not have the same tokenizers and languages.
    """
    if not loaded:
        raise LatimerError("there is no checkpoint; name at least one")
    first, *others = loaded
    for other in others:
        _check_alike(first, other)
    models = [each.model.to(device) for each in loaded]
    return models[0] if len(models) == 1 else Ensemble(models)


def require_different(loaded: Sequence[LoadedModel]) -> None:
    """Refuses a state of a model twice, which is a slip where a person names files.

    Raises:
        LatimerError: two are the same, byte for byte.
    """
    seen: dict[str, LoadedModel] = {}
    for each in loaded:
        before = seen.setdefault(each.sha256, each)
        if before is not each:
            raise LatimerError(
                f"ensemble: {before.path} and {each.path} are the same state of a model, byte for "
                "byte; name each one once"
            )


def members(model: TranslatingModel) -> list[Transformer]:
    """The Transformers that a model consists of."""
    if isinstance(model, Transformer):
        return [model]
    return [member for member in model.models if isinstance(member, Transformer)]


def device_of(model: TranslatingModel) -> torch.device:
    """Where a model is."""
    return next(members(model)[0].parameters()).device


def last_position(model: TranslatingModel) -> int | None:
    """The most positions that every member has, where a member has learned its positions."""
    sizes = [member.hyperparameters for member in members(model)]
    return min((s["max_length"] for s in sizes if s["positions"] == "learned"), default=None)


@contextmanager
def evaluating(model: TranslatingModel) -> Iterator[None]:
    """A model without dropout and in float32; afterwards it is in the mode that it was in.

    Not in the precision of a training that this may be part of: a score in a run must be the score
    that the checkpoint gets later.
    """
    with ExitStack() as stack:
        stack.enter_context(torch.autocast(device_of(model).type, enabled=False))
        for member in members(model):
            stack.callback(member.train, member.training)
            member.eval()
        yield


def _check_alike(first: LoadedModel, other: LoadedModel) -> None:
    for side in ("source", "target"):
        if getattr(first.tokenizers, side).sha256 != getattr(other.tokenizers, side).sha256:
            raise LatimerError(
                f"{other.path}: its {side} tokenizer is not the one of {first.path}, so their "
                "probabilities are of different pieces and have no mean; an ensemble needs "
                "checkpoints with the same tokenizers, as of runs with the same tokenizer.file"
            )
    mine, theirs = (f"{each.source_language} to {each.target_language}" for each in (first, other))
    if mine != theirs:
        raise LatimerError(
            f"{other.path} translates {theirs}, and {first.path} {mine}; an ensemble needs "
            "checkpoints of the same languages"
        )
