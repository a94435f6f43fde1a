"""The training loop of the baselines, as one writes it without a framework."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.laps import Laps
from benchmarks.marian_model import Marian
from benchmarks.torch_model import TorchTransformer
from benchmarks.workloads import SEED, Workload, configuration, settings
from latimer.config.model import ModelConfig
from latimer.data.encoded import Batch
from latimer.data.loaders import TrainingLoader
from latimer.data.prepared import prepare
from latimer.model.masks import PAD_ID
from latimer.training.trainer import make_loaders

BASELINES: dict[str, Callable[[ModelConfig, int], nn.Module]] = {
    "torch": TorchTransformer,
    "marian": Marian,
}
LOG_EVERY = 10


def train(  # noqa: PLR0913 (plain values, by name)
    *, competitor: str, workload: list[Any], folder: str, precision: str, updates: int, warmup: int
) -> dict[str, Any]:
    """Trains a baseline on the batches that ours is trained on, in the same order.

    Returns:
        What :meth:`~benchmarks.laps.Laps.result` tells, and the number of parameters.
    """
    config = configuration(settings(Workload(*workload), Path(folder), precision))
    corpus = prepare(config.data, config.tokenizer, folder=Path(config.prepared_folder))
    torch.manual_seed(SEED)
    model = BASELINES[competitor](config.model, Workload(*workload).vocab_size)
    batches = endless(make_loaders(config, corpus)[0])
    laps = Laps(warmup)
    fit(model, batches, laps, updates=warmup + updates, precision=precision)
    trained = sum(each.numel() for each in model.parameters() if each.requires_grad)
    return {**laps.result(), "parameters": trained}


def endless(loader: TrainingLoader) -> Iterator[Batch]:
    """One epoch after another."""
    while True:
        for update in loader:
            yield from update


def fit(
    model: nn.Module, batches: Iterator[Batch], laps: Laps, *, updates: int, precision: str
) -> None:
    """Adam, a schedule, clipping, and a look at the loss now and then."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, (n + 1) / 1000))
    model.train()
    laps.start()
    for update in range(updates):
        batch = next(batches)
        optimizer.zero_grad()
        with autocast(precision):
            loss = plain_loss(model(batch.source, batch.target_input), batch.labels)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if update % LOG_EVERY == 0:
            loss.item()
        laps.end_of_update(int((batch.labels != PAD_ID).sum()))


def plain_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """PyTorch's own cross-entropy, with the paper's label smoothing."""
    return F.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=PAD_ID, label_smoothing=0.1
    )


def autocast(precision: str) -> AbstractContextManager[Any]:
    """bfloat16 for matrix products, or nothing."""
    return torch.autocast("cpu", torch.bfloat16) if precision == "bf16-mixed" else nullcontext()
