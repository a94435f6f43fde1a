"""All combinations of the given values, one after another."""

from collections.abc import Mapping, Sequence
from itertools import product

from hydra.core.override_parser.types import Override

from latimer.errors import LatimerError
from latimer.sweeps.sweeper import Planned, RecordedSweeper


class Grid(RecordedSweeper):
    """Runs ``key=a,b other=c,d`` as four jobs.

    Args:
        params: settings beside those of the command line, which win over them.
    """

    def __init__(self, params: Mapping[str, object] | None = None) -> None:
        self._params = params or {}

    def sweep(self, arguments: list[str]) -> None:
        """Runs all jobs; before the first one, every configuration is composed.

        Raises:
            JobError: a job failed.
        """
        given = [f"{key}={value}" for key, value in self._params.items()]
        jobs = combinations(self.parse([*given, *arguments]))
        self.validate_batch_is_legal(jobs)
        with self.opened() as kept:
            planned = [Planned(kept.record.job(as_settings(job)), job) for job in jobs]
            self.run(planned, kept, total=len(kept.record.jobs))


def combinations(overrides: Sequence[Override]) -> list[list[str]]:
    """The arguments of each job; the last key's values change fastest.

    Raises:
        LatimerError: an interval has no list of values.
    """
    choices = []
    for override in overrides:
        key = override.get_key_element()
        if not override.is_sweep_override():
            choices.append([f"{key}={override.get_value_element_as_str()}"])
        elif override.is_discrete_sweep():
            choices.append([f"{key}={value}" for value in override.sweep_string_iterator()])
        else:
            raise LatimerError(
                f"{(override.input_line or key).lstrip('+')}: an interval is for a search; write "
                "single values, or hydra/sweeper=optuna"
            )
    return [list(job) for job in product(*choices)]


def as_settings(arguments: Sequence[str]) -> list[str]:
    """Arguments as a person writes them."""
    return [argument.removeprefix("++") for argument in arguments]
