"""The event file of a run, with the hyper-parameters that TensorBoard's HParams page shows."""

from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.loggers import TensorBoardLogger
from pytorch_lightning.utilities import rank_zero_only
from torch.utils.tensorboard.summary import hparams

from latimer.training import tags


class TensorBoard(TensorBoardLogger):
    """Lightning's logger, writing into the run folder itself and no file but the events."""

    def __init__(self, save_dir: str, flush_secs: int = 10) -> None:
        # With purge_step the file says that a session starts. TensorBoard takes the first such note
        # for the beginning of all, and passes over older steps only from the second one on.
        super().__init__(save_dir, name="", version="", flush_secs=flush_secs, purge_step=0)

    def save(self) -> None:
        """Puts what was logged on disk; the configuration is in ``config.yaml`` already."""
        self.experiment.flush()

    @rank_zero_only
    def log_configuration(self, configuration: dict[str, Any]) -> None:
        """Fills the HParams page: dotted keys, beside the curves of val/bleu and val/nll."""
        flat = {key: value for key, value in flatten(configuration).items() if value is not None}
        metrics = {tags.VAL_BLEU: None, tags.VAL_NLL: None}
        for summary in hparams(flat, metrics):  # type: ignore[no-untyped-call]
            self.experiment._get_file_writer().add_summary(summary)


def flatten(configuration: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested sections to one level of dotted keys; lists become text."""
    flat: dict[str, Any] = {}
    for key, value in configuration.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            plain = value is None or isinstance(value, str | int | float)
            flat[prefix + key] = value if plain else str(value)
    return flat


def log_text(trainer: pl.Trainer, tag: str, text: str) -> None:
    """Shows Markdown text in TensorBoard at the present update, where the run has TensorBoard."""
    for logger in trainer.loggers:
        if isinstance(logger, TensorBoardLogger):
            logger.experiment.add_text(tag, text, global_step=trainer.global_step)


def log_values(trainer: pl.Trainer, values: dict[str, float]) -> None:
    """Logs values at the present update to every logger of the run."""
    for logger in trainer.loggers:
        logger.log_metrics(values, step=trainer.global_step)
        logger.save()
