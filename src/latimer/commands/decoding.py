"""From the settings on a command line to a translator that decodes so."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import yaml

from latimer.checkpoint import LoadedModel
from latimer.config.check import check
from latimer.config.decoding import AnyDecodingConfig, DecodingChanges, stored_decoding
from latimer.errors import LatimerError
from latimer.translation import Translator, stored_search
from latimer.translation.methods import METHODS


def read_settings(settings: Sequence[str]) -> dict[str, Any]:
    """The keys of ``decoding`` that a person sets.

    Args:
        settings: each as ``key=value``; values are written as in YAML.

    Raises:
        LatimerError: one is no ``key=value``, or stands there twice.
    """
    changes: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        key = key.removeprefix("decoding.")
        if any("\ud800" <= character <= "\udfff" for character in setting):
            raise LatimerError(f"--set {setting!r}: this is not UTF-8 text; write it in UTF-8")
        if not equals:
            raise LatimerError(f"--set {setting}: write a key and its value, as no_repeat_ngram=3")
        if key in changes:
            raise LatimerError(f"{key} is set twice, to {changes[key]} and to {value}; choose one")
        changes[key] = _read_value(setting, value)
    return changes


def make_translator(
    loaded: LoadedModel,
    others: Sequence[LoadedModel] = (),
    *,
    changes: Mapping[str, Any],
    n_best: int | None = None,
    device: str = "auto",
) -> Translator:
    """A translator that decodes as the run did, but for the changes.

    Args:
        loaded: the model.
        others: those that join it in an ensemble.
        changes: keys of ``decoding`` and their values. What a method needs that the run did not use
            has the method's defaults.
        n_best: hypotheses that will be listed of a line; None for the best alone.
        device: where to translate.

    Raises:
        LatimerError: naming every change that is not possible.
    """
    decoding = _decoding(stored_decoding(loaded.config["decoding"]), changes, n_best or 1)
    search = stored_search({"decoding": decoding.model_dump()})
    return Translator.from_loaded(
        loaded, search, others=others, device=device, max_tokens=decoding.max_tokens
    )


def _decoding(
    trained: AnyDecodingConfig, changes: Mapping[str, Any], n_best: int
) -> AnyDecodingConfig:
    if "n_best" in changes:
        raise LatimerError(f"--set n_best={changes['n_best']}: write --n-best {changes['n_best']}")
    settings = METHODS.get(changes.get("method", trained.method))
    all_keys = dict.fromkeys(DecodingChanges.model_fields)
    defaults = {field.name: field.default for field in fields(settings)} if settings else {}
    missing = {
        key: defaults[key] for key in all_keys.keys() & defaults if not hasattr(trained, key)
    }
    listed = {"n_best": n_best} if "n_best" in defaults else {}
    checked = check({**all_keys, **missing, **listed, **changes}, DecodingChanges)
    decoding = checked.applied_to(trained)
    samples = getattr(decoding, "samples", n_best)
    if n_best > samples:
        raise LatimerError(
            f"--n-best {n_best}: there are {samples} samples; --set samples={n_best}"
        )
    return decoding


def _read_value(setting: str, value: str) -> Any:
    try:
        return yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise LatimerError(f"--set {setting}: the value can't be read; quote it") from error
