"""BPE-dropout in a run: for training alone (field case 30)."""

from pathlib import Path

import torch

from latimer.data.prepared import prepare
from latimer.training.trainer import make_loaders


def loaders(config):
    corpus = prepare(config.data, config.tokenizer, folder=Path(config.prepared_folder))
    return make_loaders(config, corpus)


def sources(loader):
    """The ids of each source by its row, with the end of sentence."""
    batches = [batch for update in loader for batch in update]
    return {
        row: [one for one in ids if one]
        for batch in batches
        for row, ids in zip(batch.rows.tolist(), batch.source.tolist(), strict=True)
    }


def test_merges_are_left_out_in_training_and_not_in_validation(make_config):
    plain_training, plain_validation = loaders(make_config())
    training, validation = loaders(make_config(tokenizer__bpe_dropout=0.5))
    plain, first, second = sources(plain_training), sources(training), sources(training)
    assert plain.keys() == first.keys() == second.keys()
    assert first not in (plain, second)
    expected = [batch for (batch,) in plain_validation]
    for _ in range(2):
        for (batch,), same in zip(validation, expected, strict=True):
            assert all(torch.equal(*both) for both in zip(batch, same, strict=True))
