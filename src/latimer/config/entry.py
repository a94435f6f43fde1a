"""What ``train.py`` and ``evaluate.py`` share: the command line, and how mistakes end.

A mistake of the user's ends in one message on stderr and exit code 1; anything else keeps its
traceback.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf.errors import OmegaConfBaseException

from latimer.config.arguments import leave_to_schema, refuse_dashes
from latimer.config.base import Section
from latimer.config.hydra_errors import explain
from latimer.config.resume import Given
from latimer.errors import LatimerError


class JobError(Exception):
    """A job ended by a mistake or a fault, which has been shown already."""


def launch(main: Callable[[], Any], schema: type[Section]) -> None:
    """Runs what :func:`hydra.main` made of a script's function, as the command line says.

    Exits with code 1 if a job fails, after the other jobs of a sweep.

    Args:
        main: the decorated function; its body stands in :func:`job`.
        schema: the configuration that it checks, for advice on misspelt keys.
    """
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises its errors instead of printing them
    conf = Path(sys.argv[0]).absolute().parent / "conf"
    groups = [folder.name for folder in conf.iterdir() if folder.is_dir()]
    try:
        refuse_dashes(sys.argv[1:], schema)
        sys.argv[1:] = [leave_to_schema(argument, groups) for argument in sys.argv[1:]]
        main()
    except JobError:
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    except LatimerError as error:
        sys.exit(f"error: {error}")
    except (HydraException, OmegaConfBaseException, yaml.YAMLError) as error:
        sys.exit(f"error: {explain(error, schema)}")


def given() -> Given:
    """What was written on the command line of this job."""
    hydra = HydraConfig.get()
    return Given(hydra.overrides.task, list(hydra.runtime.choices))


def command_of_this_job() -> list[str]:
    """The command that was given; in a sweep, the one that does this job alone."""
    python, *arguments = sys.orig_argv
    if HydraConfig.initialized() and HydraConfig.get().mode == RunMode.MULTIRUN:
        settings = [setting.removeprefix("++") for setting in HydraConfig.get().overrides.task]
        arguments = [sys.argv[0], *(s for s in settings if not s.startswith("run_folder="))]
    return [Path(python).name, *arguments]


@contextmanager
def job() -> Iterator[None]:
    """Shows at once what ends a job, so that a sweep doesn't hide it until its own end.

    Raises:
        JobError: the block raised another exception, in a sweep; it carries what was shown.
        SystemExit: likewise, in a single run.
    """
    sweep = HydraConfig.get().mode == RunMode.MULTIRUN
    try:
        yield
    except Exception as failure:
        mistake = isinstance(failure, LatimerError)
        text = f"error: {failure}" if mistake else traceback.format_exc().rstrip("\n")
        print(text, file=sys.stderr)
        raise (JobError(text) if sweep else SystemExit(1)) from failure
