"""The keys of a schema, and which of them a mistyped one was meant to be."""

import difflib
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from latimer.config.base import Section

SIMILAR = 0.7
TAGS = ("kind", "format", "method")  # by which one of several sections is chosen
OTHER_NAMES = {
    # What other toolkits call the thing.
    "lr": ("schedule.rate", "schedule.factor"),
    "learning_rate": ("schedule.rate", "schedule.factor"),
    "warmup": ("schedule.warmup_updates",),
    "warmup_steps": ("schedule.warmup_updates",),
    "scheduler": ("schedule",),
    "eps": ("optimizer.epsilon",),
    "max_steps": ("trainer.max_updates",),
    "steps": ("trainer.max_updates",),
    "updates": ("trainer.max_updates",),
    "epochs": ("trainer.max_epochs",),
    "max_grad_norm": ("trainer.gradient_clip",),
    "gradient_clip_val": ("trainer.gradient_clip",),
    "clip_norm": ("trainer.gradient_clip",),
    "batch_size": ("batches.max_tokens",),
    "num_workers": ("batches.loader_workers",),
    "accumulate_grad_batches": ("batches.accumulation",),
    "update_freq": ("batches.accumulation",),
    "val_check_interval": ("validation.every_updates",),
    "hidden_size": ("model.d_model",),
    "num_layers": ("model.encoder_layers",),
    "layers": ("model.encoder_layers",),
    "num_heads": ("model.heads",),
    "beam": ("decoding.beam_size",),
    "beams": ("decoding.beam_size",),
    "num_beams": ("decoding.beam_size",),
    "alpha": ("decoding.length_penalty",),
    "lenpen": ("decoding.length_penalty",),
    "src": ("data.source_language",),
    "tgt": ("data.target_language",),
    "ckpt_path": ("checkpoint",),
}


def known_keys(section: type[Section], raw: Any = None) -> list[str]:
    """The dotted keys of a section and of the sections in it, in order.

    Where there is a choice of sections, such as between schedules, the keys are those of the one
    that ``raw``, a mapping, has chosen; without ``raw``, those of all.
    """
    return list(_keys(section, raw, ""))


def _keys(section: type[Section], raw: Any, prefix: str) -> Iterator[str]:
    for name, field in section.model_fields.items():
        key, given = prefix + name, raw.get(name) if isinstance(raw, Mapping) else None
        yield key
        for choice in _choices(field.annotation):
            if _is_chosen(choice, given):
                yield from _keys(choice, given, f"{key}.")
        if get_origin(field.annotation) is dict and isinstance(given, Mapping):
            for choice in _choices(get_args(field.annotation)[1]):
                for entry in given:
                    yield from _keys(choice, given[entry], f"{key}.{entry}.")


def _choices(annotation: Any) -> list[type[Section]]:
    """The sections that a field may hold: none, one, or those of a union."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return [section for part in get_args(annotation) for section in _choices(part)]
    return []


def _is_chosen(section: type[Section], raw: Any) -> bool:
    """Whether ``kind``, ``format`` or ``method`` has the value that this section is for."""
    if not isinstance(raw, Mapping):
        return True
    return all(raw.get(name) in values for name, values in _tags(section).items())


def _tags(section: type[Section]) -> dict[str, tuple[str, ...]]:
    """``kind``, ``format`` or ``method``, with the values that choose this section."""
    return {
        name: get_args(field.annotation)
        for name, field in section.model_fields.items()
        if name in TAGS and get_origin(field.annotation) is Literal
    }


def choices_with(section: type[Section], key: str) -> list[str]:
    """The values of the tags in ``TAGS`` that choose a section with this dotted key."""
    name, _, rest = key.partition(".")
    inner = rest.partition(".")[0]
    with_it = [
        choice
        for choice in _choices(section.model_fields[name].annotation)
        if inner in choice.model_fields
    ]
    if "." in rest:
        return [found for choice in with_it for found in choices_with(choice, rest)]
    return [value for choice in with_it for values in _tags(choice).values() for value in values]


def nearest(key: str, known: list[str]) -> str | None:
    """The key that was probably meant, or None: another toolkit's word for it, or a misspelling.

    The last part of the name counts before the path to it, since people forget the section more
    often than they mistake it.
    """
    leaf = _leaf(key).replace("-", "_")
    for candidate in OTHER_NAMES.get(leaf.lower(), ()):
        if candidate in known:
            return candidate
    namesakes = [name for name in known if _leaf(name) == leaf]
    siblings = [name for name in known if _section(name) == _section(key)]
    for candidates in (namesakes, siblings, known):
        by_leaf = {_leaf(name): name for name in reversed(candidates)}
        if match := difflib.get_close_matches(leaf, by_leaf, n=1, cutoff=SIMILAR):
            return by_leaf[match[0]]
    match = difflib.get_close_matches(key, known, n=1, cutoff=SIMILAR)
    return match[0] if match else None


def _section(key: str) -> str:
    return key.rpartition(".")[0]


def _leaf(key: str) -> str:
    return key.rpartition(".")[2]
