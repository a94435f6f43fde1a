"""Runs that fit into a test."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from latimer.config.run import RunConfig
from toy_run import GOOD_ENOUGH
from toy_trainings import Run, configure, start


@pytest.fixture
def make_config(tmp_path):
    """A configuration of a toy run, with the given dotted keys changed."""

    def make(**changes: Any) -> RunConfig:
        return configure(tmp_path, **changes)

    return make


@pytest.fixture
def run(make_config) -> Callable[..., Run]:
    """Trains as the toy configuration says, but for the given dotted keys."""
    return lambda **changes: start(make_config(**changes))


@pytest.fixture(scope="session")
def workplace(tmp_path_factory) -> Path:
    """The folder of the two runs below: data, prepared data, runs, and where they were started."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "launched_here").mkdir()
    return folder


@pytest.fixture(scope="session")
def good_run(workplace) -> Run:
    """A run with some BLEU, on a machine without a network (field case 15)."""

    def refuse(*_arguments: Any) -> None:
        raise AssertionError("a socket was opened")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("socket.socket.connect", refuse)
        patch.chdir(workplace / "launched_here")
        return start(configure(workplace, **GOOD_ENOUGH))


@pytest.fixture(scope="session")
def short_run(good_run, workplace) -> Run:
    """Six updates of the toy configuration as it is; it finds its data prepared by the other."""
    return start(configure(workplace))
