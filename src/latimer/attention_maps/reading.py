"""A sentence, its translation, and the attention between them."""

from dataclasses import dataclass
from typing import NamedTuple

import torch

from latimer.attention_maps.weights import AttentionMaps, read_weights
from latimer.checkpoint import LoadedModel
from latimer.decoding import force_decode
from latimer.errors import LatimerError
from latimer.tokenizer import EOS_ID, Tokenizer
from latimer.translation import Translator, stored_search

LONGEST = 300


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a model made of a sentence.

    Attributes:
        loaded: the model.
        source: the sentence.
        target: its translation, or the target that was given.
        given: whether the target was given.
        log_probability: of the target's pieces and eos, in nats.
        maps: who attended to whom.
    """

    loaded: LoadedModel
    source: str
    target: str
    given: bool
    log_probability: float
    maps: AttentionMaps


class _Target(NamedTuple):
    text: str
    ids: tuple[int, ...]
    log_probability: float


def read_sentence(loaded: LoadedModel, source: str, target: str | None = None) -> Reading:
    """Translates a sentence as the run did, or has the model write a given target.

    Args:
        loaded: the model.
        source: the sentence, as raw text.
        target: likewise; None for the model's own translation.

    Raises:
        LatimerError: the sentence or the target is empty, or longer than the model's positions or
            than a picture can be.
    """
    ids = _encode("sentence", source, loaded, loaded.tokenizers.source)
    written = _translate(loaded, source) if target is None else _force(loaded, ids, target)
    return Reading(
        loaded=loaded,
        source=source,
        target=written.text,
        given=target is not None,
        log_probability=written.log_probability,
        maps=read_weights(loaded.model, loaded.tokenizers, ids, written.ids),
    )


def _translate(loaded: LoadedModel, source: str) -> _Target:
    translator = Translator.from_loaded(loaded, stored_search(loaded.config), device="cpu")
    [translation] = translator.translations([source])
    best = translation.hypotheses[0]
    return _Target(translation.text, best.ids, best.log_probability)


def _force(loaded: LoadedModel, source: list[int], target: str) -> _Target:
    ids = _encode("target", target, loaded, loaded.tokenizers.target)
    [forced] = force_decode(loaded.model, torch.tensor([[*source, EOS_ID]]), [ids], 0.0)
    return _Target(target, forced.ids, forced.log_probability)


def _encode(what: str, text: str, loaded: LoadedModel, tokenizer: Tokenizer) -> list[int]:
    """The pieces of a text that the model can take."""
    try:
        ids = tokenizer.encode(text.encode("utf-8").decode("utf-8"))
    except UnicodeEncodeError as error:
        raise LatimerError(f"the {what} is not UTF-8 text; write it in UTF-8") from error
    if not ids:
        raise LatimerError(f"the {what} is empty; write one, in quotes")
    if len(ids) > LONGEST:
        raise LatimerError(
            f"the {what} has {len(ids)} pieces, and pictures of more than {LONGEST} become too "
            "large; write a shorter one"
        )
    limit = loaded.model.hyperparameters["max_length"]
    if limit is not None and len(ids) >= limit:
        raise LatimerError(
            f"the {what} has {len(ids)} pieces, but the model has learned only {limit} positions, "
            "and eos or bos needs one of them; write a shorter one"
        )
    return ids
