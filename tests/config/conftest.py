"""Composes what stands in ``conf/``, as the command line would."""

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from latimer.config.arguments import leave_to_schema
from latimer.config.compose import evaluate_config, plain, run_config
from latimer.config.evaluate import EvaluateConfig
from latimer.config.run import RunConfig

CONF = Path(__file__).parents[2] / "conf"
GROUPS = sorted(folder.name for folder in CONF.iterdir() if folder.is_dir())


def compose_script(script: str, *overrides: str) -> DictConfig:
    """What ``python <script>.py <overrides>`` gets from Hydra."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose(script, [leave_to_schema(override, GROUPS) for override in overrides])


@pytest.fixture(scope="session")
def conf() -> Path:
    return CONF


@pytest.fixture(scope="session")
def composed():
    return compose_script


@pytest.fixture
def train_config(tmp_path):
    def make(*overrides: str) -> RunConfig:
        return run_config(compose_script("train", *overrides), tmp_path)

    return make


@pytest.fixture
def evaluation_config(tmp_path):
    def make(*overrides: str) -> EvaluateConfig:
        return evaluate_config(compose_script("evaluate", *overrides), tmp_path)

    return make


@pytest.fixture(scope="session")
def _default_settings() -> dict:
    return plain(compose_script("train"))


@pytest.fixture
def settings(_default_settings):
    """The default configuration as plain dictionaries, with some dotted keys changed or added."""

    def make(changes: dict | None = None) -> dict:
        raw = _copy(_default_settings)
        for key, value in (changes or {}).items():
            *sections, leaf = key.split(".")
            place = raw
            for section in sections:
                place = place[section]
            place[leaf] = value
        return raw

    return make


def _copy(raw):
    return {key: _copy(value) for key, value in raw.items()} if isinstance(raw, dict) else raw
