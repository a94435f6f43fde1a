"""A search for good settings by Optuna, which learns from the jobs that have ended."""

import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from hydra.core.override_parser.types import IntervalSweep, Override

from latimer.config.training import lower_is_better
from latimer.errors import LatimerError
from latimer.sweeps.grid import as_settings
from latimer.sweeps.keeping import Keeping
from latimer.sweeps.record import SweepRecord
from latimer.sweeps.sweeper import Planned, RecordedSweeper

STUDY = "optuna.log"
NAME = "sweep"


class Study(RecordedSweeper):
    """Chooses the settings of each job by a tree-structured Parzen estimator (Bergstra, 2011).

    What is found depends on the seed and the scores alone, and not on where the study was stopped.

    Args:
        trials: jobs in all, failed ones included.
        random_trials: how many of them come before the estimator has a say.
        seed: of its random choices.
        params: what is searched, as on the command line, which wins over them.
    """

    def __init__(
        self, trials: int, random_trials: int, seed: int, params: Mapping[str, object]
    ) -> None:
        self._trials, self._random_trials, self._seed = trials, random_trials, seed
        self._params = params

    def sweep(self, arguments: list[str]) -> None:
        """Runs the trials that are left.

        Raises:
            JobError: a trial failed; the others were run all the same.
            LatimerError: there is no Optuna, nothing to search, or another search in the folder.
        """
        optuna = _optuna()
        given = [f"{key}={value}" for key, value in self._params.items()]
        space, fixed = search_space(self.parse([*given, *arguments]))
        with self.opened() as kept:
            study = self._study(optuna, kept.record, {"space": _describe(space), "fixed": fixed})
            for trial in study.get_trials(states=[optuna.trial.TrialState.RUNNING]):
                self._try(study, trial, fixed, kept)
            while len(study.trials) < self._trials:
                # A sampler for each: one alone would begin its choices anew when a study goes on.
                study.sampler = optuna.samplers.TPESampler(
                    seed=self._seed + len(study.trials), n_startup_trials=self._random_trials
                )
                self._try(study, study.ask(space), fixed, kept)

    def _study(self, optuna: Any, record: SweepRecord, about: dict[str, Any]) -> Any:
        """The study in the sweep's folder, a new one or that of an earlier start."""
        backend = optuna.storages.journal.JournalFileBackend(str(record.folder / STUDY))
        study = optuna.create_study(
            storage=optuna.storages.JournalStorage(backend),
            study_name=NAME,
            direction="minimize" if lower_is_better(record.monitor or "") else "maximize",
            load_if_exists=True,
        )
        former = study.user_attrs.get("about", about)
        if former != about:
            raise LatimerError(
                f"sweep_folder={record.folder}: the search there was for {former['space']} with "
                f"{former['fixed']}, whose scores say nothing about {about['space']} with "
                f"{about['fixed']}; write the same settings, or begin a new sweep"
            )
        study.set_user_attr("about", about)
        return study

    def _try(self, study: Any, trial: Any, fixed: list[str], kept: Keeping) -> None:
        """Runs the job of a trial, unless the same one was run before, and tells how good it is."""
        arguments = [*(f"{key}={value}" for key, value in trial.params.items()), *fixed]
        job = kept.record.job(as_settings(arguments))
        self.run([Planned(job, arguments)], kept, total=self._trials)
        if job.score is None or not math.isfinite(job.score):
            study.tell(trial.number, state=_optuna().trial.TrialState.FAIL)
        else:
            study.tell(trial.number, job.score)


def search_space(overrides: Sequence[Override]) -> tuple[dict[str, Any], list[str]]:
    """What is searched, as Optuna's distributions by key, and the settings that all jobs share.

    Raises:
        LatimerError: nothing is searched.
    """
    space, fixed = {}, []
    for override in overrides:
        key = override.get_key_element()
        if override.is_sweep_override():
            space[key] = _distribution(override)
        else:
            fixed.append(f"{key}={override.get_value_element_as_str()}")
    if not space:
        raise LatimerError(
            "hydra/sweeper=optuna: nothing to search; write a range, such as "
            "'schedule.rate=tag(log, interval(1e-4, 1e-2))' or model.dropout=0.1,0.2,0.3"
        )
    return space, fixed


def _distribution(override: Override) -> Any:
    """Numbers from an interval, on a logarithmic scale with ``tag(log, ...)``; else a choice."""
    distributions = _optuna().distributions
    value = override.value()
    if not isinstance(value, IntervalSweep):
        return distributions.CategoricalDistribution(list(override.sweep_string_iterator()))
    ends, log = (value.start, value.end), "log" in value.tags
    if all(isinstance(end, int) for end in ends):
        return distributions.IntDistribution(*ends, log=log)
    return distributions.FloatDistribution(*ends, log=log)


def _describe(space: Mapping[str, Any]) -> list[str]:
    return [f"{key}: {distribution}" for key, distribution in space.items()]


def _optuna() -> Any:
    try:
        optuna = import_module("optuna")
    except ImportError:
        raise LatimerError(
            "hydra/sweeper=optuna needs Optuna: pip install 'latimer[sweeps]', or in a clone of "
            "the repository pip install --constraint constraints.txt --editable '.[sweeps]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
