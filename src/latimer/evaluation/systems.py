"""What an evaluation scores: checkpoints, or the means of runs' states beside their best ones."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from latimer.checkpoint import BEST, LoadedModel, load_average, load_model
from latimer.config.decoding import stored_decoding
from latimer.config.evaluate import EvaluateConfig
from latimer.config.scoring import stored_scoring
from latimer.errors import LatimerError
from latimer.evaluation.evaluation import EvaluationSettings, System
from latimer.evaluation.names import short_names
from latimer.evaluation.output import output_folder
from latimer.evaluation.states import to_be_averaged
from latimer.scoring import require_tokenizer
from latimer.translation import require_different


def load_systems(config: EvaluateConfig) -> list[System]:
    """The models that are asked for, each with the settings that it is evaluated with.

    Raises:
        LatimerError: a checkpoint cannot be used, there are too few for an average, or several
            cannot be compared: the same one twice, other languages, another way of scoring.
    """
    systems = [system for path in config.checkpoints for system in _load(config, path)]
    for number, system in enumerate(systems):
        for before in systems[:number]:
            _require_another(before, system)
        _require_comparable(systems[0], system)
    if systems[0].others:
        return systems
    names = short_names([system.loaded.path for system in systems])
    return [replace(system, name=name) for system, name in zip(systems, names, strict=True)]


def _load(config: EvaluateConfig, checkpoint: str) -> list[System]:
    """One checkpoint, an ensemble that it begins, or a run's best state and the mean of several."""
    if config.average is None:
        others = [load_model(path) for path in config.ensemble or []]
        first = load_model(checkpoint)
        require_different([first, *others])
        return [_as_system(config, first, others)]
    paths = to_be_averaged(Path(checkpoint), config.average, config.average_of)
    averaged = load_average(paths, f"average of the {config.average} {config.average_of}")
    best = load_model(paths[0].with_name(BEST))
    return [_as_system(config, best), _as_system(config, averaged)]


def _as_system(
    config: EvaluateConfig, loaded: LoadedModel, others: Sequence[LoadedModel] = ()
) -> System:
    trained = stored_scoring(loaded.config)
    lowercase = trained.lowercase if config.lowercase is None else config.lowercase
    settings = EvaluationSettings(
        decoding=config.decoding.applied_to(stored_decoding(loaded.config["decoding"])),
        bootstrap=config.bootstrap,
        bleu_tokenizer=config.bleu_tokenizer or trained.bleu_tokenizer,
        lowercase=lowercase,
        device=config.device,
    )
    name = f"ensemble of {1 + len(others)}" if others else loaded.path.name
    folder = output_folder(config.output_folder, loaded.path)
    return System(name, loaded, settings, folder, others)


def _require_another(before: System, system: System) -> None:
    if before.loaded.sha256 == system.loaded.sha256:
        raise LatimerError(
            f"checkpoint: {before.loaded.path} and {system.loaded.path} are the same state of a "
            "model, byte for byte; name each one once"
        )


def _require_comparable(first: System, other: System) -> None:
    """Refuses what has no test set in common with the first one, or no scores."""
    one, two = first.loaded, other.loaded
    if _direction(one) != _direction(two):
        raise LatimerError(
            f"checkpoint: {one.path} translates {_direction(one)}, but {two.path} "
            f"{_direction(two)}; evaluate them one by one"
        )
    for key, found in _scoring(first).items():
        if found != (here := _scoring(other)[key]):
            raise LatimerError(
                f"{key}: {one.path} was trained with {key}={found}, but {two.path} with "
                f"{key}={here}, and their scores would not compare; write {key}={found} or "
                f"{key}={here}"
            )


def _direction(loaded: LoadedModel) -> str:
    return f"{loaded.source_language} to {loaded.target_language}"


def _scoring(system: System) -> dict[str, str]:
    """What scores depend on, by key, with values as one writes them."""
    language, settings = system.loaded.target_language, system.settings
    return {
        "bleu_tokenizer": require_tokenizer(language, settings.bleu_tokenizer),
        "lowercase": str(settings.lowercase).lower(),
    }
