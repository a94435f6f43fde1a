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


@contextmanager
def job() -> Iterator[None]:
    """Shows at once what ends a job, so that a sweep doesn't hide it until its own end.

    Raises:
        JobError: the block raised another exception, in a sweep.
        SystemExit: likewise, in a single run.
    """
    hydra = HydraConfig.get()
    sweep = hydra.mode == RunMode.MULTIRUN
    if sweep:
        settings = " ".join(setting.removeprefix("++") for setting in hydra.overrides.task)
        print(f"job {hydra.job.num}: {settings}")
    try:
        yield
    except Exception as failure:
        if isinstance(failure, LatimerError):
            print(f"error: {failure}", file=sys.stderr)
        else:
            traceback.print_exc()
        raise (JobError() if sweep else SystemExit(1)) from failure
