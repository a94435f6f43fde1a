"""Scores a checkpoint: ``python evaluate.py checkpoint=PATH [key=value]``; see ``--help``."""

from pathlib import Path

import hydra
from omegaconf import DictConfig

from latimer.config.compose import evaluate_config
from latimer.config.entry import job, launch
from latimer.config.evaluate import EvaluateConfig
from latimer.screen import Screen


@hydra.main(version_base="1.3", config_path="conf", config_name="evaluate")
def main(composed: DictConfig) -> None:
    """One evaluation; a sweep has several."""
    with job():
        config = evaluate_config(composed, Path.cwd())
        # Only now, since it takes seconds: a mistake in the configuration shows at once.
        from latimer.evaluation.run import evaluate  # noqa: PLC0415

        evaluate(config, Screen())


if __name__ == "__main__":
    launch(main, EvaluateConfig)
