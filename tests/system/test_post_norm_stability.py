"""Post-norm with 6 + 6 layers trains stably with the paper's schedule (sections 3.1 and 5.3)."""

import csv
import math
from itertools import pairwise

import pytest

UPDATES = 300
VOCAB_SIZE = 2000
SETTINGS = (
    "data=bible",
    f"tokenizer.vocab_size={VOCAB_SIZE}",
    "model=base",
    "model.d_model=64",
    "model.d_ff=256",
    "schedule=paper",
    "batches.max_tokens=512",
    "trainer=cpu",
    "trainer.gradient_clip=null",
    "trainer.precision=float32",
    f"trainer.max_updates={UPDATES}",
    "trainer.log_every_updates=1",
    "logger=csv",
    f"validation.every_updates={UPDATES}",
    "checkpoints={monitor: val/nll, best: 1, newest: 0, every_updates: 300, average: newest}",
    # The curves are looked at, and not the translations: of one piece each.
    "validation.bleu_sentences=1",
    "decoding=greedy",
    "decoding.max_length_factor=0",
    "decoding.max_length_offset=1",
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Where the corpus is kept for all seeds."""
    return tmp_path_factory.mktemp("prepared")


def read_curves(path) -> dict[str, list[float]]:
    """The values of each tag, update by update."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {tag: [float(row[tag]) for row in rows if row[tag]] for tag in rows[0]}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_six_layers_train_without_diverging(command, prepared, tmp_path, seed):
    run = tmp_path / "run"
    folders = (f"run_folder={run}", f"prepared_folder={prepared}")
    ended = command("train.py", *SETTINGS, *folders, f"seed={seed}")
    assert (ended.code, ended.complaints) == (0, "")
    curves = read_curves(run / "csv" / "metrics.csv")
    norms, nll = curves["train/grad_norm"], curves["train/nll"]
    assert len(norms) == len(nll) == UPDATES
    assert all(map(math.isfinite, norms))
    assert max(norms[100:]) < norms[0]
    means = [sum(nll[start : start + 50]) / 50 for start in range(0, UPDATES, 50)]
    assert all(later < earlier for earlier, later in pairwise(means))
    # A model that has learnt nothing spreads its probability over all pieces, and scores ln V.
    assert curves["val/nll"][-1] < math.log(VOCAB_SIZE) - 1
