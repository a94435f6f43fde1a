"""Everything that comes before the first file of a run, and that a dry run does likewise."""

import logging
from pathlib import Path
from typing import NamedTuple

import pytorch_lightning as pl

from latimer.config.run import RunConfig
from latimer.data.prepared import PreparedCorpus, prepare
from latimer.errors import LatimerError
from latimer.memory import keep_freed_memory
from latimer.model import Transformer
from latimer.scoring import require_tokenizer
from latimer.training.freezing import freeze
from latimer.training.hardware import Hardware, choose_hardware
from latimer.training.plugins import check_plug_ins
from latimer.training.resume import Resumed
from latimer.training.taking import Taken
from latimer.training.task import TranslationTask
from latimer.training.trainer import make_loaders
from latimer.training.warm_start import WarmStart, stored_tokenizers


class PreparedRun(NamedTuple):
    """All that a training needs, once it is found to be right."""

    config: RunConfig
    hardware: Hardware
    corpus: PreparedCorpus
    task: TranslationTask
    taken: Taken | None
    folder: Path
    resumed: Resumed | None = None


def make_ready(
    config: RunConfig, prepared_folder: Path, state: Path | None = None
) -> tuple[Hardware, PreparedCorpus, TranslationTask, Taken | None]:
    """Checks and makes all that a training needs.

    Args:
        config: of the run.
        prepared_folder: where prepared corpora are kept.
        state: what the run goes on from, if it isn't new: that has all weights, so none are taken
            of another checkpoint any more.

    Raises:
        LatimerError: the data, the device, or something that the configuration names is at fault.
    """
    for library in ("pytorch_lightning", "lightning_fabric"):
        logging.getLogger(library).setLevel(logging.WARNING)
    # Before the seed: to rebuild a model takes random numbers.
    start = WarmStart.find(config) if state is None else None
    tokenizers = start.tokenizers if start else stored_tokenizers(config, state)
    pl.seed_everything(config.seed, verbose=False)
    keep_freed_memory()
    hardware = choose_hardware(config.trainer)
    require_tokenizer(config.data.target_language, config.scoring.bleu_tokenizer)
    check_plug_ins(config)
    corpus = prepare(config.data, config.tokenizer, folder=prepared_folder, tokenizers=tokenizers)
    check_positions(config, corpus)
    if config.trainer.devices > 1:
        make_loaders(config, corpus)  # are the pairs enough for so many?
    model = make_model(config, **corpus.tokenizers.vocab_sizes)
    taken = start.give(model, corpus.tokenizers, config) if start else None
    freeze(model, config.freeze)
    return hardware, corpus, TranslationTask(model, config), taken


def check_positions(config: RunConfig, corpus: PreparedCorpus) -> None:
    """Raises LatimerError when learned positions do not reach to the end of the validation set."""
    pairs, positions = corpus.validation, config.model.max_length
    needed = 1 + int(max(pairs.source_lengths.max(), pairs.target_lengths.max()))
    if positions is not None and positions < needed:
        raise LatimerError(
            f"model.max_length={positions}: the longest validation sentence has {needed} pieces, "
            f"bos or eos included; write model.max_length={needed} or more"
        )


def make_model(config: RunConfig, *, source_vocab_size: int, target_vocab_size: int) -> Transformer:
    """The network of a configuration, for vocabularies of the given sizes."""
    return Transformer(
        source_vocab_size=source_vocab_size,
        target_vocab_size=target_vocab_size,
        **config.model.model_dump(),
    )


def count_parameters(model: Transformer) -> int:
    """The weights of a model; a matrix that is shared counts once."""
    return sum(parameter.numel() for parameter in model.parameters())
