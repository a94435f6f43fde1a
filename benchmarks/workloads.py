"""What is trained and translated: models of ``conf/model``, and a corpus that was made for them."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from hydra import compose, initialize_config_dir

from benchmarks.text import SIDES, sentence_pairs, write_pairs
from latimer.config.compose import run_config
from latimer.config.run import RunConfig
from latimer.tokenizer import train_tokenizer

ROOT = Path(__file__).absolute().parents[1]
SEED = 1
NEVER = 10**9
VALIDATION_PAIRS = 16
TOKENIZER_PAIRS = 29_000
TRANSLATED = 1_000


class Workload(NamedTuple):
    """A model and the data that it is measured with; plain values, so that it can be sent as JSON.

    Attributes:
        name: in the tables.
        model: settings of ``train.py``.
        pairs: of the training split. An epoch warms up and the next one is timed: so many that
            it has at least a dozen updates, and so few that it takes about a minute.
        vocab_size: V.
        max_tokens: the budget of a batch, as ``batches.max_tokens``.
    """

    name: str
    model: Sequence[str]
    pairs: int
    vocab_size: int = 8_000
    max_tokens: int = 4_096


SIZES = {
    "tiny": Workload("tiny", ["model=tiny"], 10_000),
    "small": Workload("small", ["model=small"], 10_000),
    "base": Workload("base", ["model=base"], 3_000),
}
TOY = Workload(
    name="toy",
    model=["model=tiny", "model.d_model=16", "model.d_ff=32", "model.encoder_layers=1"],
    pairs=200,
    vocab_size=300,
    max_tokens=1_024,
)


def make_corpus(workload: Workload, folder: Path) -> None:
    """Writes the text and the tokenizer of a workload into a folder, unless they are there.

    The tokenizer is trained on as many pairs as Multi30k has, or on ten times those of a workload.
    """
    place = _place(workload, folder)
    if place.exists():
        return
    aside = place.with_suffix(".partial")
    aside.mkdir(parents=True)
    seen = min(TOKENIZER_PAIRS, 10 * workload.pairs)
    lines = (line for pair in islice(sentence_pairs(SEED), seen) for line in pair)
    (aside / "joint.model").write_bytes(
        train_tokenizer(lines, vocab_size=workload.vocab_size).model_bytes
    )
    pairs = sentence_pairs(SEED)
    write_pairs(aside, "train", pairs, workload.pairs)
    write_pairs(aside, "validation", pairs, VALIDATION_PAIRS)
    write_pairs(aside, "test", pairs, TRANSLATED)
    aside.rename(place)


def settings(workload: Workload, folder: Path, precision: str) -> list[str]:
    """The arguments of ``train.py`` for a corpus that :func:`make_corpus` made.

    Nothing is validated or saved while it is measured, and the log is written every ten updates.
    """
    place = _place(workload, folder)
    files = [
        f"data.{split}.{key}={place / f'{split}.{side}'}"
        for split in ("train", "validation")
        for key, side in zip(("source", "target"), SIDES, strict=True)
    ]
    return [
        *("data=files", "data.source_language=en", "data.target_language=de", *files),
        *(*workload.model, f"tokenizer.file={place / 'joint.model'}", f"seed={SEED}"),
        *("trainer=cpu", f"trainer.precision={precision}", "trainer.log_every_updates=10"),
        f"batches.max_tokens={workload.max_tokens}",
        *(f"validation.every_updates={NEVER}", f"checkpoints.every_updates={NEVER}"),
        *("checkpoints.newest=0", "checkpoints.average=none", "validation.bleu_sentences=1"),
        *("validation.sample_sentences=0", "validation.attention_sentences=0"),
        *(f"prepared_folder={folder / 'prepared'}", f"runs_folder={folder / 'runs'}"),
    ]


def test_settings(workload: Workload, folder: Path) -> list[str]:
    """The arguments of ``evaluate.py`` for the test set of that corpus."""
    place = _place(workload, folder)
    source, target = (place / f"test.{side}" for side in SIDES)
    return [
        *("data=files", "data.source_language=en", "data.target_language=de"),
        f"data.test={{synthetic: {{source: {source}, target: {target}}}}}",
    ]


def configuration(arguments: Sequence[str]) -> RunConfig:
    """What ``train.py`` makes of these arguments."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        return run_config(compose("train", list(arguments)), ROOT)


def test_lines(workload: Workload, folder: Path) -> list[str]:
    """The sources that are translated."""
    file = _place(workload, folder) / f"test.{SIDES[0]}"
    return file.read_text(encoding="utf-8").splitlines()


def _place(workload: Workload, folder: Path) -> Path:
    return folder / f"corpus_{workload.pairs}_{workload.vocab_size}"
