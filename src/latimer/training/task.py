"""What one optimizer update and one validation are: the Lightning module."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

import pytorch_lightning as pl
import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from latimer.config.run import RunConfig
from latimer.data.encoded import Batch
from latimer.errors import LatimerError
from latimer.model import Transformer
from latimer.model.masks import PAD_ID
from latimer.training.loss import Losses, chunked_cross_entropy
from latimer.training.loss_scaling import unscale
from latimer.training.optimizer import make_optimizer
from latimer.training.processes import gather, summed
from latimer.training.schedule import make_scheduler


@dataclass
class UpdateStatistics:
    """Sums over one update, on all its micro-batches and devices; the losses are in nats.

    ``skipped`` tells that the gradient overflowed in float16, so that the weights stayed the same.
    """

    loss: float = 0.0
    nll: float = 0.0
    tokens: int = 0
    cells: int = 0
    real_cells: int = 0
    grad_norm: float = 0.0
    learning_rate: float = 0.0
    skipped: bool = False


class TranslationTask(pl.LightningModule):
    """Trains a :class:`~latimer.model.Transformer`; one Lightning batch is one optimizer update.

    A batch from the loader is the list of the micro-batches of an update, so that Lightning's own
    counters (limits, validation interval) count optimizer updates and nothing else, and so that
    the number of target pieces of the whole update is known before its first backward pass: each
    piece weighs the same, however the update is split into micro-batches or over devices.

    An update that float16's loss scaling skips is counted like any other, by the schedule too.
    """

    def __init__(self, model: Transformer, config: RunConfig) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.model = model
        self.config = config
        self.statistics = UpdateStatistics()
        self.validation_scores: dict[str, float] = {}
        self.validation_nll: list[float] = []
        self.validation_tokens = 0

    def setup(self, stage: str) -> None:
        """Gives each of several devices random numbers of its own: its dropout."""
        if stage == "fit" and self.trainer.world_size > 1:
            pl.seed_everything((self.config.seed + self.global_rank) % 2**32, verbose=False)

    def configure_optimizers(self) -> Any:
        """The optimizer, and its schedule, stepped by hand after each update."""
        # float16 has a narrow range, and no scale guards an optimizer's products.
        products = torch.bfloat16 if self.trainer.precision == "bf16-mixed" else torch.float32
        optimizer = make_optimizer(self.named_parameters(), self.config.optimizer, products)
        d_model = self.config.model.d_model
        scheduler = make_scheduler(optimizer, self.config.schedule, d_model)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler}}

    def losses(self, batch: Batch, label_smoothing: float) -> Losses:
        """The sums of both losses over the real target pieces of a batch."""
        states = self.model.states(batch.source, batch.target_input)
        real = batch.labels != PAD_ID
        matrix = self.model.output.weight
        return chunked_cross_entropy(states[real], matrix, batch.labels[real], label_smoothing)

    def training_step(self, update: list[Batch], batch_idx: int) -> None:
        """One optimizer update."""
        optimizer = cast(Any, self.optimizers())
        optimizer.zero_grad()
        tokens = self._tokens_on_all_devices(update)
        self.statistics = UpdateStatistics(learning_rate=optimizer.param_groups[0]["lr"])
        faulty: list[int] = []
        for batch in update:
            with self._alone_until(batch is update[-1]):
                losses = self.losses(batch, self.config.loss.label_smoothing)
                if not self._count(batch, losses):
                    faulty = faulty or batch.rows.tolist()
                # Several devices average their gradients; the factor makes a sum of it.
                self.manual_backward(losses.loss * (self.trainer.world_size / tokens))
        self._add_up_devices(faulty)
        # The products inside an optimizer are no part of the model: Adafactor has some.
        with torch.autocast(self.device.type, enabled=False):
            optimizer.step()
        cast(LambdaLR, self.lr_schedulers()).step()

    def on_before_optimizer_step(self, optimizer: Optimizer) -> None:
        """Clips the gradient, which is complete here."""
        scale = unscale(self.trainer, optimizer)
        limit = self.config.trainer.gradient_clip
        norm = torch.nn.utils.clip_grad_norm_(self.parameters(), limit or float("inf"))
        self.statistics.grad_norm = float(norm)
        # Only the scale may be to blame, which is smaller in the next update.
        self.statistics.skipped = scale > 1.0 and not math.isfinite(self.statistics.grad_norm)
        if not self.statistics.skipped:
            self._require_finite("gradient's norm", self.statistics.grad_norm)

    def on_validation_epoch_start(self) -> None:
        """Starts the sums of a validation."""
        self.validation_nll, self.validation_tokens = [], 0

    def validation_step(self, batch: list[Batch], batch_idx: int) -> None:
        """Adds a batch to the sums, in float32 whatever the training's precision."""
        with torch.autocast(self.device.type, enabled=False):
            for micro_batch in batch:
                self.validation_nll.append(float(self.losses(micro_batch, 0.0).nll))
                self.validation_tokens += int((micro_batch.labels != PAD_ID).sum())

    def mean_validation_nll(self) -> float:
        """Nats per target piece over the whole validation set.

        The sum is exact, so it doesn't matter which device had which batch.
        """
        shares = gather((self.validation_nll, self.validation_tokens))
        mean = math.fsum(chain.from_iterable(nll for nll, _ in shares)) / sum(n for _, n in shares)
        self._require_finite("loss on the validation set", mean)
        return mean

    def _alone_until(self, last: bool) -> AbstractContextManager[None]:
        """Has devices exchange gradients once an update, with its last micro-batch."""
        block = getattr(self.trainer.strategy, "block_backward_sync", nullcontext)
        return nullcontext() if last else cast(AbstractContextManager[None], block())

    def _tokens_on_all_devices(self, update: list[Batch]) -> float:
        tokens = torch.stack([(batch.labels != PAD_ID).sum() for batch in update]).sum()
        return summed([float(tokens)], self.device)[0]

    def _add_up_devices(self, faulty: list[int]) -> None:
        """Makes the statistics those of all devices, which then agree on what is wrong."""
        names = ("loss", "nll", "tokens", "cells", "real_cells")
        sums = summed([getattr(self.statistics, name) for name in names], self.device)
        for name, value in zip(names, sums, strict=True):
            setattr(self.statistics, name, value)
        if not math.isfinite(self.statistics.loss):
            rows = next(filter(None, gather(faulty)), [])
            self._require_finite("loss", self.statistics.loss, rows)

    def _count(self, batch: Batch, losses: Losses) -> bool:
        """Adds a micro-batch to the statistics; whether its loss is finite."""
        statistics = self.statistics
        real_target = int((batch.labels != PAD_ID).sum())
        loss = float(losses.loss.detach())
        statistics.loss += loss
        statistics.nll += float(losses.nll)
        statistics.tokens += real_target
        statistics.cells += batch.source.numel() + batch.labels.numel()
        statistics.real_cells += int((batch.source != PAD_ID).sum()) + real_target
        return math.isfinite(loss)

    def _require_finite(self, what: str, value: float, rows: Sequence[int] = ()) -> None:
        if math.isfinite(value):
            return
        pairs = f", on the training pairs {list(rows)}" if rows else ""
        update = self.trainer.global_step + (0 if self.trainer.validating else 1)
        raise self._diverged(f"{what} became {value}", update, pairs)

    def require_finite_weights(self) -> None:
        """Raises LatimerError when the newest update ruined a weight."""
        if not all(bool(weight.isfinite().all()) for weight in self.parameters()):
            raise self._diverged("weights became infinite or nan", self.trainer.global_step)

    def _diverged(self, what: str, update: int, pairs: str = "") -> LatimerError:
        return LatimerError(
            f"the {what} in update {update}, at a rate of "
            f"{self.statistics.learning_rate:.3g}{pairs}; the checkpoints written before it are "
            "intact. A lower rate (schedule.rate, schedule.factor), a longer warm-up "
            "(schedule.warmup_updates) or trainer.gradient_clip=1.0 usually helps."
        )
