"""A tiny model with random weights, and its checkpoint: for tests that need one, not a good one."""

import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from latimer import __version__
from latimer.checkpoint import FORMAT, write_checkpoint
from latimer.cli import main
from latimer.model import Transformer
from latimer.tokenizer import Tokenizer, Tokenizers, train_tokenizer

# Matrices as small as in these tests are not worth a second thread, and two that wait for each
# other on a busy machine take twenty times as long as one.
torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the commands that tests start
# Where a shell has started the tests in its background, they and their commands ignore Ctrl-C;
# and where nohup has, the end of the terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

WORDS = (
    "the",
    "a",
    "red",
    "blue",
    "old",
    "small",
    "boat",
    "door",
    "kettle",
    "house",
    "bird",
    "sea",
)
TINY = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 2}
TINY_DECODING = {
    "beam_size": 3,
    "length_penalty": 0.6,
    "max_length_factor": 1.0,
    "max_length_offset": 4,
    "min_length": 1,
    "n_best": 1,
    "max_tokens": 2000,
}


def sentences(count: int, seed: int) -> list[str]:
    """Random sentences of 1 to 12 words; the same ones for the same arguments."""
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS, k=dice.randint(1, 12))) for _ in range(count)]


@pytest.fixture(scope="session")
def make_sentences() -> Callable[[int, int], list[str]]:
    return sentences


@pytest.fixture(scope="session")
def tiny_tokenizer() -> Tokenizer:
    return train_tokenizer(sentences(300, seed=0), vocab_size=60)


@pytest.fixture(scope="session")
def tiny_tokenizers(tiny_tokenizer: Tokenizer) -> Tokenizers:
    return Tokenizers.joint(tiny_tokenizer)


@pytest.fixture(scope="session")
def separate_tokenizers(tiny_tokenizer: Tokenizer) -> Tokenizers:
    """The target has a vocabulary of its own, in capitals and of another size."""
    capitals = (sentence.upper() for sentence in sentences(300, seed=0))
    return Tokenizers(tiny_tokenizer, train_tokenizer(capitals, vocab_size=50))


@pytest.fixture(scope="session")
def make_model(tiny_tokenizers: Tokenizers) -> Callable[..., Transformer]:
    """A model by its seed; hyper-parameters may be given. It depends on what it reads."""

    def make(seed: int = 1, **hyperparameters: Any) -> Transformer:
        torch.manual_seed(seed)
        sizes = {**TINY, **tiny_tokenizers.vocab_sizes}
        model = Transformer(**{**sizes, "tying": "none", **hyperparameters})
        with torch.no_grad():
            model.output.weight.mul_(8.0)
        return model.eval()

    return make


@pytest.fixture(scope="session")
def make_contents(
    tiny_tokenizers: Tokenizers, make_model: Callable[..., Transformer]
) -> Callable[..., dict[str, Any]]:
    """The contents of a tiny model's checkpoint."""

    def make(
        seed: int = 1,
        updates: int = 100,
        tokenizers: Tokenizers = tiny_tokenizers,
        **hyperparameters: Any,
    ) -> dict[str, Any]:
        model = make_model(seed, **tokenizers.vocab_sizes, **hyperparameters)
        return {
            "latimer": {
                "format": FORMAT,
                "version": __version__,
                "hyperparameters": model.hyperparameters,
                **{name: one.model_bytes for name, one in tokenizers.named.items()},
                **tokenizers.hashes,
                "source_language": "xx",
                "target_language": "yy",
                "updates": updates,
                "scores": {"val/bleu": 1.5},
                "config": {"decoding": TINY_DECODING},
            },
            "state_dict": {f"model.{name}": w for name, w in model.state_dict().items()},
        }

    return make


@pytest.fixture
def tiny_checkpoint(make_contents: Callable[..., dict[str, Any]], tmp_path: Path) -> Path:
    path = tmp_path / "runs" / "tiny" / "checkpoints" / "best.ckpt"
    path.parent.mkdir(parents=True)
    write_checkpoint(make_contents(), path)
    return path


@pytest.fixture
def latimer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """Runs the command in this process; its exit code or last word, and what it showed."""

    def run(*arguments: object) -> tuple[Any, Any]:
        monkeypatch.setattr(sys, "argv", ["latimer", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    return run
