"""Trains a translation model: ``python train.py [group=option] [key=value]``; see ``--help``."""

from pathlib import Path

import hydra
from omegaconf import DictConfig

from latimer.config.compose import run_config
from latimer.config.entry import job, launch
from latimer.config.run import RunConfig, warnings
from latimer.screen import Screen


@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(composed: DictConfig) -> None:
    """One training run; a sweep has several."""
    with job():
        config = run_config(composed, Path.cwd())
        # Only now, since it takes seconds: a mistake in the configuration shows at once.
        from latimer.training.run import train  # noqa: PLC0415

        screen = Screen()
        for warning in warnings(config):
            screen.print(f"warning: {warning}")
        train(config, screen)


if __name__ == "__main__":
    launch(main, RunConfig)
