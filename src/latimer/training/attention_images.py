"""Pictures of the cross-attention for TensorBoard: how source and target find each other."""

import pytorch_lightning as pl
from datasets import Dataset
from pytorch_lightning.loggers import TensorBoardLogger
from pytorch_lightning.trainer.states import TrainerFn

from latimer.attention_maps import draw_layers, read_weights
from latimer.attention_maps.heatmaps import as_pixels
from latimer.config.training import ValidationConfig
from latimer.tokenizer import Tokenizers
from latimer.training import tags
from latimer.training.task import TranslationTask
from latimer.training.validation import evenly_spaced

SHOWN_PIECES = 40


class AttentionImages(pl.Callback):
    """At each validation: who attends to whom in some pairs, each layer the mean of its heads.

    The pairs are ``validation.attention_sentences`` evenly spaced ones of those that are translated
    for BLEU, always the same. The target is the reference, so that the pictures of all updates can
    be laid side by side; of long sentences, the first pieces are shown.
    """

    def __init__(
        self, *, tokenizers: Tokenizers, pairs: Dataset, validation: ValidationConfig
    ) -> None:
        translated = evenly_spaced(len(pairs), validation.bleu_sentences)
        shown = evenly_spaced(len(translated), validation.attention_sentences)
        chosen = pairs.select([translated[number] for number in shown])
        self._tokenizers = tokenizers
        self._sources = tokenizers.source.encode_batch(list(chosen["source"]))
        self._targets = tokenizers.target.encode_batch(list(chosen["target"]))

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Draws, where the run has TensorBoard; not for the average at the end of a training."""
        assert isinstance(pl_module, TranslationTask)
        boards = [logger for logger in trainer.loggers if isinstance(logger, TensorBoardLogger)]
        if not boards or trainer.state.fn != TrainerFn.FITTING or not trainer.is_global_zero:
            return
        pairs = zip(self._sources, self._targets, strict=True)
        for number, (source, target) in enumerate(pairs, start=1):
            maps = read_weights(pl_module.model, self._tokenizers, source, target)
            pixels = as_pixels(draw_layers(maps.cross.first(SHOWN_PIECES)))
            for board in boards:
                board.experiment.add_image(
                    f"{tags.CROSS_ATTENTION}/{number}",
                    pixels,
                    global_step=trainer.global_step,
                    dataformats="HWC",
                )
