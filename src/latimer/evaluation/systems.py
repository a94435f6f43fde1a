"""What an evaluation scores: a checkpoint, or the mean of a run's states beside its best one."""

from collections.abc import Sequence
from pathlib import Path

from latimer.checkpoint import (
    BEST,
    LoadedModel,
    find_checkpoint,
    load_average,
    load_model,
    read_checkpoint,
)
from latimer.config.decoding import stored_decoding
from latimer.config.evaluate import EvaluateConfig
from latimer.config.scoring import stored_scoring
from latimer.config.training import lower_is_better
from latimer.errors import LatimerError
from latimer.evaluation.test_sets import EvaluationSettings, System


def load_systems(config: EvaluateConfig) -> list[System]:
    """The models that are asked for, each with the settings that it is evaluated with.

    Raises:
        LatimerError: a checkpoint cannot be used, or there are too few for an average.
    """
    if config.average is None:
        others = [load_model(path) for path in config.ensemble or []]
        return [_as_system(config, load_model(config.checkpoint), others)]
    paths = _to_be_averaged(config)
    name = f"average of the {config.average} {config.average_of}"
    averaged = load_average(paths, name)
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
    return System(name, loaded, settings, others)


def _to_be_averaged(config: EvaluateConfig) -> list[Path]:
    """The files whose mean is asked for, oldest first."""
    wanted, run = config.average, Path(config.checkpoint).expanduser()
    if run.is_file():
        raise LatimerError(
            f"average={wanted}: checkpoint={run} is a file; write the folder of a run, which holds "
            "the checkpoints that are to be averaged"
        )
    folder = find_checkpoint(run).parent
    found = _ranked(folder, config.average_of)
    kind = {"newest": "step_*.ckpt", "best": "best_*.ckpt"}[config.average_of]
    if wanted is None or len(found) < wanted:
        instead = f"; write average={len(found)}, or" if len(found) > 1 else ", and an average"
        instead += " takes two or more;" if len(found) < 2 else ""
        raise LatimerError(
            f"average={wanted}: {folder} has {len(found)} {kind}{instead} "
            f"train with checkpoints.{config.average_of}={wanted}"
        )
    return sorted(found[:wanted])


def _ranked(folder: Path, which: str) -> list[Path]:
    """The newest first, or the best first by the score that the run monitored."""
    if which == "newest":
        return sorted(folder.glob("step_*.ckpt"), reverse=True)
    return sorted(sorted(folder.glob("best_*.ckpt")), key=_merit, reverse=True)


def _merit(path: Path) -> float:
    about = read_checkpoint(path)["latimer"]
    monitor = about["config"]["checkpoints"]["monitor"]
    score: float = about["scores"][monitor]
    return -score if lower_is_better(monitor) else score
