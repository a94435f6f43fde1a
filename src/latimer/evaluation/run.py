"""``evaluate.py``: from a checkpoint's path to its scores."""

from datasets import Dataset

from latimer.checkpoint import LoadedModel, describe_updates
from latimer.config.check import check
from latimer.config.data import DataConfig
from latimer.config.evaluate import EvaluateConfig
from latimer.data.corpus import read_split, test_set_names
from latimer.errors import LatimerError
from latimer.evaluation.comet import load_comet
from latimer.evaluation.output import make_writable
from latimer.evaluation.result import Result
from latimer.evaluation.systems import load_systems
from latimer.evaluation.test_sets import evaluate_systems
from latimer.memory import keep_freed_memory
from latimer.screen import Screen


def evaluate(config: EvaluateConfig, screen: Screen) -> list[Result]:
    """Scores checkpoints on the test sets of the first one, or on others of its language pair.

    An average of a run's states is scored beside the run's best one. Several are tested against
    the first. A checkpoint is all that is needed of a run: its training data may be gone.

    Raises:
        LatimerError: a checkpoint, a test set, COMET's model or the output folder cannot be used;
            found before anything is translated.
    """
    keep_freed_memory()
    comet = load_comet(config.comet) if config.comet is not None else None
    systems = load_systems(config)
    for system in systems:
        for loaded in (system.loaded, *system.others):
            updates = describe_updates(loaded.updates, loaded.averaged)
            screen.print(f"checkpoint {loaded.path}, {updates}")
    test_sets = _read_test_sets(config, systems[0].loaded)
    for system in systems:
        make_writable(system.folder)
    return evaluate_systems(systems, test_sets, screen=screen, comet=comet, report=config.report)


def _read_test_sets(config: EvaluateConfig, loaded: LoadedModel) -> dict[str, Dataset]:
    """The test sets that were asked for; no other split is read."""
    data = config.data or _stored_data(config, loaded)
    _check_languages(data, loaded)
    known = test_set_names(data)
    names = config.test_sets or known
    for name in names:
        if name not in known:
            raise LatimerError(
                f"test_sets: there is no test set {name!r}; there are: {', '.join(known)}"
            )
    if not names:
        raise LatimerError("data.test: there are no test sets; name at least one")
    try:
        return {name: read_split(data, "test", name) for name in names}
    except LatimerError as error:
        if config.data is not None:
            raise
        raise LatimerError(
            f"{error}\nThat is where the test sets were when {loaded.path} was trained; "
            "write data=... to say where they are now"
        ) from error


def _stored_data(config: EvaluateConfig, loaded: LoadedModel) -> DataConfig:
    completed = check({**config.model_dump(), "data": loaded.config["data"]}, EvaluateConfig)
    assert completed.data is not None
    return completed.data


def _check_languages(data: DataConfig, loaded: LoadedModel) -> None:
    given = (data.source_language, data.target_language)
    trained = (loaded.source_language, loaded.target_language)
    if given != trained:
        raise LatimerError(
            f"{loaded.path} translates {trained[0]} to {trained[1]}, but the test sets go from "
            f"{given[0]} to {given[1]}; write data.source_language={trained[0]} "
            f"data.target_language={trained[1]}, and the files of each side"
        )
