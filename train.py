"""Trains a translation model: ``python train.py [group=option] [key=value]``; see ``--help``."""

from pathlib import Path

import hydra
from omegaconf import DictConfig

from latimer.config.compose import run_config
from latimer.config.entry import given, job, launch
from latimer.config.run import RunConfig, warnings
from latimer.screen import Screen


@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(composed: DictConfig) -> float | None:
    """One training run, a sweep has several; its best ``checkpoints.monitor``, for sweepers."""
    with job():
        config = run_config(composed, Path.cwd(), given())
        screen = Screen()
        for warning in warnings(config):
            screen.print(f"warning: {warning}")
        return (_measure if config.dry_run else _train)(config, screen)


# What takes seconds to import is imported last: a mistake in the configuration shows at once.
def _train(config: RunConfig, screen: Screen) -> float:
    from latimer.sweeps.results import final_score  # noqa: PLC0415
    from latimer.training.run import train  # noqa: PLC0415

    return final_score(train(config, screen), config.checkpoints.monitor)


def _measure(config: RunConfig, screen: Screen) -> None:
    from latimer.training.dry_run import dry_run  # noqa: PLC0415

    dry_run(config, screen)


if __name__ == "__main__":
    launch(main, RunConfig)
