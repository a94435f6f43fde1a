"""One optimizer update: every target piece weighs the same, however the update is split."""

import math
from itertools import pairwise

import pytest
import pytorch_lightning as pl
import torch
import torch.nn.functional as F

from latimer.data.encoded import EncodedPairs
from latimer.errors import LatimerError
from latimer.model import Transformer
from latimer.training.muon import orthogonal
from latimer.training.task import TranslationTask
from toy_run import MUON

# Eight pairs of unequal lengths.
SOURCES = [[5, 6], [7, 8, 9, 10], [11], [12, 13, 14, 15, 16, 17], [5], [9, 8, 7], [10, 11], [6] * 9]
TARGETS = [[6, 5, 4], [10], [11, 4, 7, 8, 9, 5, 6], [12, 13], [5] * 5, [9], [11, 10], [7] * 11]


def make_task(config, seed=3, **hyperparameters):
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1}
    model = Transformer(
        source_vocab_size=20, target_vocab_size=20, dropout=0.0, **sizes, **hyperparameters
    )
    return TranslationTask(model, config)


def run_updates(task, updates, max_steps=None, precision="32-true"):
    """Trains on the given updates, each a list of lists of row numbers."""
    pairs = EncodedPairs.from_ids(SOURCES, TARGETS)
    loader = torch.utils.data.DataLoader(
        [[pairs.collate(rows) for rows in update] for update in updates], batch_size=None
    )
    trainer = pl.Trainer(
        accelerator="cpu",
        precision=precision,
        max_steps=max_steps or len(updates),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(task, loader)
    return trainer


def weights(task):
    return torch.cat([parameter.detach().flatten() for parameter in task.parameters()])


@pytest.mark.parametrize("parts", [[4, 4], [2, 2, 2, 2], [1, 7], [5, 3]])
def test_an_update_does_not_depend_on_how_it_is_split(make_config, parts):
    """Field case 60."""
    whole, split = (make_task(make_config(trainer__gradient_clip=None)) for _ in range(2))
    rows = list(range(8))
    cuts = [sum(parts[:number]) for number in range(len(parts) + 1)]
    pieces = [rows[start:end] for start, end in pairwise(cuts)]
    run_updates(whole, [[rows]] * 3)
    run_updates(split, [pieces] * 3)
    torch.testing.assert_close(weights(whole), weights(split), rtol=0, atol=1e-5)


def test_losses_are_means_over_pieces_and_not_over_batches(make_config):
    """Field case 60: each piece weighs the same, in the gradient and in what is reported."""
    task = make_task(make_config())
    pairs = EncodedPairs.from_ids(SOURCES, TARGETS)
    batches = [pairs.collate([0]), pairs.collate([7])]
    sums = [task.losses(batch, 0.1) for batch in batches]
    pieces = len(TARGETS[0]) + 1 + len(TARGETS[7]) + 1
    run_updates(task, [[[0], [7]]])
    assert task.statistics.tokens == pieces
    assert task.statistics.loss == pytest.approx(sum(float(s.loss) for s in sums), rel=1e-5)
    assert task.statistics.nll == pytest.approx(sum(float(s.nll) for s in sums), rel=1e-5)


def test_updates_are_counted_and_not_micro_batches(make_config):
    """Field cases 58 and 59: 40 micro-batches, 4 an update, are 10 updates and 10 rates."""
    schedule = {"kind": "inverse_square_root", "warmup_updates": 100, "rate": 1.0}
    task = make_task(make_config(schedule=schedule))
    trainer = run_updates(task, [[[0, 1], [2, 3], [4, 5], [6, 7]]] * 10)
    assert trainer.global_step == 10
    assert task.statistics.learning_rate == pytest.approx(10 / 100)
    assert trainer.lr_scheduler_configs[0].scheduler.last_epoch == 10


def test_the_first_update_has_the_rate_of_number_one(make_config):
    """Field case 57."""
    schedule = {"kind": "paper", "warmup_updates": 4000, "factor": 1.0}
    task = make_task(make_config(schedule=schedule, model__d_model=512, model__heads=8))
    run_updates(task, [[[0]]])
    assert task.statistics.learning_rate == pytest.approx(1.746928e-07, rel=1e-6)


def test_the_gradient_norm_is_logged_before_it_is_clipped(make_config):
    """Field case 69."""
    free = make_task(make_config(trainer__gradient_clip=None))
    clipped = make_task(make_config(trainer__gradient_clip=0.01))
    for task in (free, clipped):
        run_updates(task, [[[0, 1, 2]]])
    assert free.statistics.grad_norm == pytest.approx(clipped.statistics.grad_norm, rel=1e-5)
    gradients = [p.grad.flatten() for p in clipped.parameters() if p.grad is not None]
    assert torch.cat(gradients).norm() <= 0.01 * (1 + 1e-4)


def test_a_loss_that_is_not_finite_stops_the_run(make_config):
    """Field case 55: the message has update, rate and pairs."""
    task = make_task(make_config())
    with torch.no_grad():
        task.model.output.weight[5, 0] = math.nan
    with pytest.raises(LatimerError, match=r"update 1, at a rate of .* training pairs \[2, 4\]"):
        run_updates(task, [[[2, 4]]])


def test_validation_adds_up_pieces_whatever_the_batches(make_config):
    """Field case 61: equal to 1e-6 for batches of 1, 3 and 8 sentences."""
    pairs = EncodedPairs.from_ids(SOURCES, TARGETS)
    task = make_task(make_config())
    means = []
    for size in (1, 3, 8):
        rows = [list(range(start, min(start + size, 8))) for start in range(0, 8, size)]
        task.on_validation_epoch_start()
        for number, chunk in enumerate(rows):
            task.validation_step([pairs.collate(chunk)], number)
        means.append(task.mean_validation_nll())
    assert means == pytest.approx([means[0]] * 3, abs=1e-6)
    assert int(task.validation_tokens) == sum(len(target) + 1 for target in TARGETS)


def test_the_loss_leaves_out_padding_and_nothing_else(make_config):
    """Field case 24: unknown pieces (1) and ends of sentence count."""
    task = make_task(make_config())
    batch = EncodedPairs.from_ids([[5], [5]], [[1, 6, 1], [7]]).collate([0, 1])
    logits = task.model(batch.source, batch.target_input).flatten(0, 1)
    expected = F.cross_entropy(logits, batch.labels.flatten(), ignore_index=0, reduction="sum")
    torch.testing.assert_close(task.losses(batch, 0.0).nll, expected.detach(), rtol=1e-5, atol=1e-5)


def test_validation_does_not_see_the_smoothing(make_config):
    """Field case 62."""
    batch, sums = EncodedPairs.from_ids(SOURCES, TARGETS).collate(list(range(8))), []
    for smoothing in (0.0, 0.1):
        task = make_task(make_config(loss__label_smoothing=smoothing))
        task.on_validation_epoch_start()
        task.validation_step([batch], 0)
        sums.append(task.mean_validation_nll())
    assert sums[0] == sums[1]


@pytest.mark.parametrize(
    ("precision", "products"), [("32-true", torch.float32), ("bf16-mixed", torch.bfloat16)]
)
def test_muon_computes_its_products_in_the_precision_of_the_training(
    make_config, monkeypatch, precision, products
):
    found = []

    def watched(matrices, precision_of_products):
        found.append((matrices.dtype, precision_of_products))
        return orthogonal(matrices, precision_of_products)

    monkeypatch.setattr("latimer.training.muon.orthogonal", watched)
    task = make_task(make_config(optimizer=MUON))
    run_updates(task, [[[0, 1, 2]]], precision=precision)
    assert set(found) == {(torch.float32, products)}
    assert weights(task).dtype == torch.float32
