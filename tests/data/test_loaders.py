from collections.abc import Iterator
from pathlib import Path

import pytest
import pytorch_lightning as pl
import torch

from latimer.data.batches import TokenBatches
from latimer.data.encoded import Batch, EncodedPairs
from latimer.data.loaders import TrainingLoader, validation_loader

UPDATES = 7  # in each epoch


@pytest.fixture
def pairs(tmp_path) -> EncodedPairs:
    ids = [[5 + row % 3] * (1 + row % 4) for row in range(40)]
    EncodedPairs.from_ids(ids, ids[::-1]).write(tmp_path / "pairs.arrow")
    return EncodedPairs.open(tmp_path / "pairs.arrow")


def loader_of(pairs: EncodedPairs, workers: int = 0, **share: int) -> TrainingLoader:
    batches = TokenBatches(pairs, max_tokens=15, accumulation=2, seed=1, **share)
    return TrainingLoader(pairs, batches, workers=workers)


def rows_of(update: list[Batch]) -> list[list[int]]:
    return [batch.rows.tolist() for batch in update]


def take(number: int, loader: TrainingLoader) -> list[list[list[int]]]:
    """Updates across epochs, however many of them that takes."""
    return [rows_of(update) for _, update in zip(range(number), endless(loader), strict=False)]


def endless(loader: TrainingLoader) -> Iterator[list[Batch]]:
    while True:
        yield from loader


def test_yields_the_batches_of_each_update(pairs: EncodedPairs):
    loader = loader_of(pairs)
    wanted = list(loader.batches)
    assert len(wanted) == len(loader) == UPDATES
    assert [rows_of(update) for update in loader] == wanted


def test_each_epoch_has_its_own_order(pairs: EncodedPairs):
    updates = take(2 * UPDATES, loader_of(pairs))
    first, second = updates[:UPDATES], updates[UPDATES:]
    assert first != second
    for epoch in (first, second):
        assert sorted(row for update in epoch for rows in update for row in rows) == [*range(40)]


def test_workers_change_nothing(pairs: EncodedPairs):  # field cases 18, 35 and 68
    alone, loader = loader_of(pairs), loader_of(pairs, workers=2)
    loader.multiprocessing_context = "spawn"
    for _ in range(2):
        for update, other in zip(alone, loader, strict=True):
            assert loader.state_dict() == alone.state_dict()
            for batch, same in zip(update, other, strict=True):
                assert all(torch.equal(*both) for both in zip(batch, same, strict=True))


def test_workers_of_two_processes_have_every_pair_once(pairs: EncodedPairs):  # field case 18
    loaders = [loader_of(pairs, workers=2, rank=rank, world_size=2) for rank in (0, 1)]
    updates = [rows_of(update) for loader in loaders for update in loader]
    assert sorted(row for update in updates for rows in update for row in rows) == [*range(40)]


@pytest.mark.parametrize("done", [0, 3, UPDATES, UPDATES + 2])
def test_goes_on_where_it_stopped(pairs: EncodedPairs, done: int):  # field case 72
    stopped, resumed = loader_of(pairs), loader_of(pairs)
    before = take(done, stopped)
    resumed.load_state_dict(stopped.state_dict())
    assert before + take(20 - done, resumed) == take(20, loader_of(pairs))


def test_validation_has_every_pair_once(pairs: EncodedPairs):
    batches = [batch for (batch,) in validation_loader(pairs, max_tokens=20)]
    assert sorted(row for batch in batches for row in batch.rows.tolist()) == list(range(40))


def test_processes_share_a_validation(pairs: EncodedPairs):
    shares = [validation_loader(pairs, max_tokens=20, rank=rank, world_size=2) for rank in (0, 1)]
    rows = [row for loader in shares for (batch,) in loader for row in batch.rows.tolist()]
    assert sorted(rows) == list(range(40))


def test_a_process_without_a_batch_takes_part_in_a_validation(pairs: EncodedPairs):
    batches = len(validation_loader(pairs, max_tokens=100))
    idle = validation_loader(pairs, max_tokens=100, rank=batches, world_size=batches + 1)
    assert (len(idle), [*idle]) == (1, [[]])


class Diary(pl.LightningModule):
    """Trains one weight, writes down what it was given, and saves after every update."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.folder = folder
        self.seen: list[list[list[int]]] = []

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, update: list[Batch], batch_idx: int):
        self.seen.append(rows_of(update))
        return self.layer(torch.ones(1)).sum()

    def on_train_batch_end(self, *_):
        self.trainer.save_checkpoint(self.folder / f"{self.global_step}.ckpt")


def fit(
    loader: TrainingLoader, updates: int, folder: Path, checkpoint: Path | None = None
) -> Diary:
    trainer = pl.Trainer(
        accelerator="cpu",
        max_steps=updates,
        max_epochs=-1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
    )
    diary = Diary(folder)
    trainer.fit(diary, loader, ckpt_path=checkpoint)
    trainer.save_checkpoint(folder / "last.ckpt")
    return diary


@pytest.mark.parametrize("done", [1, 3, UPDATES, UPDATES + 1, 2 * UPDATES])
@pytest.mark.parametrize("file", ["{}.ckpt", "last.ckpt"])
def test_lightning_goes_on_where_it_stopped(  # field case 72
    pairs: EncodedPairs, tmp_path, file: str, done: int
):
    stopped = fit(loader_of(pairs), done, tmp_path)
    checkpoint = tmp_path / file.format(done)
    resumed = fit(loader_of(pairs), 3 * UPDATES, tmp_path, checkpoint)
    assert stopped.seen + resumed.seen == take(3 * UPDATES, loader_of(pairs))
