"""The points of a growth curve, in the process that it is measured in; the model is "small"."""

import gc
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch

from benchmarks import child
from benchmarks.memory import peak_resident, reset_peak
from benchmarks.plain_loop import autocast
from benchmarks.text import sentence_pairs, write_pairs
from benchmarks.workloads import SEED, SIZES, VALIDATION_PAIRS, configuration, settings
from latimer.data.encoded import Batch, EncodedPairs
from latimer.data.prepared import prepare
from latimer.decoding import SearchSettings, beam_search
from latimer.memory import keep_freed_memory
from latimer.tokenizer import EOS_ID
from latimer.training.optimizer import make_optimizer
from latimer.training.ready import make_model
from latimer.training.task import TranslationTask

HEAD_WIDTH, INNER_WIDTHS = 64, 4
WARMUP = 2
RATE = 1e-4


def along(group: str, name: str, values: list[int], repeats: int) -> list[dict[str, float]]:
    """The points of a curve, the smallest first, so that none inherits a larger one's memory.

    In one process, since to import everything takes longer than to measure most points.

    Args:
        group: "update" or "decoding".
        name: of the argument that changes.
        values: of it.
        repeats: of each point.
    """
    measures: dict[str, Callable[..., dict[str, float]]] = {"update": update, "decoding": decoding}
    measure = measures[group]
    return [measure(repeats, **{name: value}) for value in values]


def update(
    repeats: int, pieces: int = 4_096, length: int = 16, width: int = 256, vocab_size: int = 8_000
) -> dict[str, float]:
    """An update of ours without Lightning: loss, gradient, clipping, Adam; in float32.

    Args:
        repeats: updates that are timed.
        pieces: target pieces of the batch; as many of the source.
        length: pieces of each sentence, eos included.
        width: D; heads are 64 wide, and the feed-forward network is four times as wide.
        vocab_size: V.
    """
    keep_freed_memory()
    batch = _batch(max(1, pieces // length), length, vocab_size)
    return _timed(bare_update(_task(width, vocab_size), batch), repeats)


def bare_update(
    task: TranslationTask, batch: Batch, precision: str = "float32"
) -> Callable[[], None]:
    """Loss, gradient, clipping and Adam on one batch, each time that it is called.

    At a small rate: the optimizer's own is 1, which the schedule multiplies. At that rate weights
    and logits explode, and an exponential that underflows takes ten times as long.
    """
    optimizer = make_optimizer(task.named_parameters(), task.config.optimizer)
    for group in optimizer.param_groups:
        group["lr"] = RATE

    def update() -> None:
        optimizer.zero_grad()
        with autocast(precision):
            losses = task.losses(batch, task.config.loss.label_smoothing)
        (losses.loss / batch.labels.numel()).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(task.parameters(), 1.0)
        optimizer.step()

    return update


def decoding(
    repeats: int, beam_size: int = 4, length: int = 20, sentences: int = 64
) -> dict[str, float]:
    """A search of ours that takes as many steps as the source has pieces, on one batch."""
    keep_freed_memory()
    model = _task(256, 8_000).model.eval()
    source = _batch(sentences, length, 8_000).source
    forced = SearchSettings(
        beam_size=beam_size,
        max_length_factor=0.0,
        max_length_offset=length - 1,
        min_length=length - 1,
    )
    return _timed(lambda: beam_search(model, source, forced), repeats)


def preparation(pairs: int, folder: str) -> dict[str, float]:
    """Reading, cleaning, training the tokenizer, encoding and writing, from files of text.

    The text is written by another process, and nothing that was prepared before is used.
    """
    place = Path(folder, f"pairs_{pairs}")
    child.measured("benchmarks.growth_points:write", pairs=pairs, folder=str(place))
    text = [f"data.{split}.{key}={place / split}.{side}" for split, key, side in _FILES]
    arguments = [*settings(SIZES["small"], place, "float32"), *text, "tokenizer.file=null"]
    config = configuration([*arguments, "tokenizer.vocab_size=8000"])
    reset_peak()
    start = time.perf_counter()
    prepare(config.data, config.tokenizer, folder=place / "prepared")
    seconds = time.perf_counter() - start
    shutil.rmtree(place)
    return {"seconds": seconds, "peak_bytes": peak_resident()}


_FILES = [
    (split, key, side)
    for split in ("train", "validation")
    for key, side in (("source", "en"), ("target", "de"))
]


def write(pairs: int, folder: str) -> None:
    """The text of a corpus of so many pairs."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    sentences = sentence_pairs(SEED)
    write_pairs(place, "train", sentences, pairs)
    write_pairs(place, "validation", sentences, VALIDATION_PAIRS)


def _task(width: int, vocab_size: int) -> TranslationTask:
    torch.manual_seed(SEED)
    sizes = [
        *("model=small", f"model.d_model={width}", f"model.heads={max(1, width // HEAD_WIDTH)}"),
        f"model.d_ff={INNER_WIDTHS * width}",
    ]
    config = configuration(sizes)
    vocabulary = {"source_vocab_size": vocab_size, "target_vocab_size": vocab_size}
    return TranslationTask(make_model(config, **vocabulary), config)


def _batch(sentences: int, length: int, vocab_size: int) -> Batch:
    """Sentences of one length, of any pieces; without padding."""
    ids = torch.randint(EOS_ID + 1, vocab_size, (2, sentences, length - 1)).tolist()
    return EncodedPairs.from_ids(*ids).collate(range(sentences))


def _timed(step: Callable[[], Any], repeats: int) -> dict[str, float]:
    """The median of the repeats, after two that warm up; and the peak of memory."""
    seconds = []
    gc.collect()
    reset_peak()
    for _ in range(WARMUP + repeats):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return {"seconds": median(seconds[WARMUP:]), "peak_bytes": float(peak_resident())}
