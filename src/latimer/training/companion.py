"""A process that trains beside the first one: ``python -m latimer.training.companion``.

It reads the checked configuration from its standard input, and is started by
:func:`latimer.training.processes.joined` alone.
"""

import json
import os
import sys

from latimer.config.check import check
from latimer.config.run import RunConfig
from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.training.companions import end_with
from latimer.training.run import train_share


def main() -> None:
    """Trains its share; its output goes nowhere, and complaints to the first process."""
    end_with(os.getppid())
    try:
        train_share(check(json.load(sys.stdin), RunConfig), Screen())
    except LatimerError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
