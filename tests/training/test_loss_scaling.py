"""float16: gradients are measured and clipped at their real size, and an overflow is no error.

On the CPU, which Lightning can be talked into; what is shown here is the order of things. The
speed and the behaviour of a GPU's float16 products are not.
"""

import math

import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins import MixedPrecision

from latimer.data.encoded import EncodedPairs
from latimer.errors import LatimerError
from latimer.model import Transformer
from latimer.training.meter import Meter
from latimer.training.tags import TRAIN_GRAD_NORM
from latimer.training.task import TranslationTask, UpdateStatistics

SOURCES = [[5, 6], [7, 8, 9, 10], [11], [12, 13, 14, 15, 16, 17]]
TARGETS = [[6, 5, 4], [10], [11, 4, 7, 8, 9, 5, 6], [12, 13]]


class Norms(pl.Callback):
    """What each update did, and the norm of the gradient that was applied."""

    def __init__(self):
        self.updates, self.applied, self.weights = [], [], []

    def on_train_batch_end(self, trainer, pl_module, *_arguments):
        self.updates.append(pl_module.statistics)
        gradients = [p.grad.flatten() for p in pl_module.parameters() if p.grad is not None]
        self.applied.append(float(torch.cat(gradients).norm()))
        weights = [p.detach().flatten() for p in pl_module.parameters()]
        self.weights.append(torch.cat(weights).clone())


class PoisonGradients(pl.Callback):
    """Makes some gradients infinite, however they are scaled."""

    def on_train_start(self, trainer, pl_module):
        next(pl_module.parameters()).register_hook(lambda gradient: gradient.fill_(math.inf))


def run_updates(config, updates, scale=None, callbacks=()):
    """Trains with the loss scaled, or in float32 if there is no scale."""
    torch.manual_seed(3)
    sizes = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1}
    model = Transformer(source_vocab_size=20, target_vocab_size=20, dropout=0.0, **sizes)
    task, norms = TranslationTask(model, config), Norms()
    pairs = EncodedPairs.from_ids(SOURCES, TARGETS)
    loader = torch.utils.data.DataLoader(
        [[pairs.collate([0, 1]), pairs.collate([2, 3])]] * updates, batch_size=None
    )
    scaler = scale and torch.amp.GradScaler("cpu", init_scale=scale, growth_interval=1000)
    trainer = pl.Trainer(
        accelerator="cpu",
        max_steps=updates,
        plugins=[MixedPrecision("16-mixed", "cpu", scaler)] if scaler else None,
        callbacks=[norms, *callbacks],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(task, loader)
    return trainer, norms


@pytest.fixture(params=["adam", "adafactor", "muon"])
def make_scaled_config(request, make_config):
    """With an optimizer whose step takes scaled gradients (fused), and with two that can't."""
    kinds = {
        "adam": {"kind": "adam", "beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9},
        "adafactor": {
            "kind": "adafactor",
            "beta2_decay": -0.8,
            "epsilon": 1e-15,
            "smallest_size": 1e-3,
            "largest_step": 1.0,
            "weight_decay": 0.0,
        },
        "muon": {
            "kind": "muon",
            "momentum": 0.95,
            "weight_decay": 0.0,
            "beta1": 0.9,
            "beta2": 0.98,
            "epsilon": 1e-9,
        },
    }
    return lambda **changes: make_config(optimizer=kinds[request.param], **changes)


def test_the_norm_is_that_of_float32(make_scaled_config):
    """Field case 69: within 1%, before clipping; after it, no more than the limit."""
    config = make_scaled_config(trainer__gradient_clip=0.01)
    (_, plain), (_, scaled) = (run_updates(config, 3, scale) for scale in (None, 1024.0))
    for before, after in zip(plain.updates, scaled.updates, strict=True):
        assert after.grad_norm == pytest.approx(before.grad_norm, rel=0.01)
        assert not after.skipped
    assert max(scaled.applied) <= 0.01 * (1 + 1e-4)


def test_an_overflow_is_skipped_and_counted(make_scaled_config):
    """The weights stay, the scale is halved, and the schedule goes on with the counters."""
    trainer, norms = run_updates(make_scaled_config(), 60, scale=2.0**30)
    skipped = [update.skipped for update in norms.updates]
    count = sum(skipped)
    assert 0 < count < 60
    assert skipped == [True] * count + [False] * (60 - count)
    assert all(torch.equal(weights, norms.weights[0]) for weights in norms.weights[:count])
    assert not torch.equal(norms.weights[count], norms.weights[0])
    assert trainer.precision_plugin.scaler.get_scale() == 2.0 ** (30 - count)
    assert trainer.global_step == 60
    assert trainer.lr_scheduler_configs[0].scheduler.last_epoch == 60


def test_a_gradient_that_no_scale_mends_ends_the_run(make_config):
    """Field case 55: it is skipped while the scale may be to blame, and not for ever."""
    with pytest.raises(LatimerError, match="the gradient's norm became inf in update 4"):
        run_updates(make_config(), 60, scale=8.0, callbacks=[PoisonGradients()])


def test_the_norm_on_the_curve_is_one_that_was_applied():
    meter = Meter()
    meter.start()
    for norm in (1.0, 2.0, math.inf):
        meter.add(UpdateStatistics(tokens=1, cells=1, grad_norm=norm, skipped=norm == math.inf))
    assert meter.read()[TRAIN_GRAD_NORM] == 2.0
