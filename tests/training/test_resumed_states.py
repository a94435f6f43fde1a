"""A saved state goes on in Lightning, for the paper's model and for every departure from it.

Without dropout, since random states are not saved.
"""

from pathlib import Path

import pytest
import torch

from latimer.data.prepared import prepare
from latimer.screen import Screen
from latimer.training.hardware import choose_hardware
from latimer.training.run import make_model
from latimer.training.task import TranslationTask
from latimer.training.trainer import make_loaders, make_trainer

VARIANTS = {
    "paper": {},
    "rotary, swiglu, pre, rms": {
        "model__positions": "rotary",
        "model__activation": "swiglu",
        "model__norm_position": "pre",
        "model__norm": "rms",
    },
    "learned, gelu, untied": {
        "model__positions": "learned",
        "model__max_length": 64,
        "model__activation": "gelu",
        "model__tying": "none",
    },
    "separate vocabularies": {"tokenizer__vocabulary": "separate", "model__tying": "decoder"},
}


def fit(config, folder: Path, checkpoint: Path | None = None) -> torch.Tensor:
    """Trains, from a saved state if one is given; all weights at the end."""
    torch.manual_seed(config.seed)
    (folder / "checkpoints").mkdir(parents=True)
    corpus = prepare(config.data, config.tokenizer, folder=Path(config.prepared_folder))
    task = TranslationTask(make_model(config, **corpus.tokenizers.vocab_sizes), config)
    training, validation = make_loaders(config, corpus)
    trainer = make_trainer(
        config,
        hardware=choose_hardware(config.trainer),
        corpus=corpus,
        updates_per_epoch=len(training),
        folder=folder,
        screen=Screen(),
    )
    trainer.fit(task, training, validation, ckpt_path=checkpoint)
    return torch.cat([weight.detach().flatten() for weight in task.parameters()])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_saved_state_goes_on_as_if_nothing_had_been(make_config, tmp_path, variant):
    settings = {**VARIANTS[variant], "model__dropout": 0.0}
    whole = fit(make_config(**settings, trainer__max_updates=9), tmp_path / "whole")
    fit(make_config(**settings, trainer__max_updates=5), tmp_path / "first")
    last = tmp_path / "first" / "checkpoints" / "last.ckpt"
    resumed = fit(make_config(**settings, trainer__max_updates=9), tmp_path / "second", last)
    torch.testing.assert_close(resumed, whole, rtol=0, atol=0)
