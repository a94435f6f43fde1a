"""A run's checkpoint whose test set it translates well but not perfectly."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from latimer.checkpoint import write_checkpoint
from latimer.config.check import check
from latimer.config.decoding import DecodingChanges
from latimer.config.evaluate import EvaluateConfig
from latimer.decoding import SearchSettings
from latimer.translation import Translator


def write_lines(path: Path, lines: list[str]) -> str:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return str(path)


@pytest.fixture(scope="session")
def news_lines(make_model, tiny_tokenizers, make_sentences) -> tuple[list[str], list[str]]:
    """40 sources, a blank one among them; two of three references are what the model says."""
    sources = make_sentences(40, 21)
    sources[5] = ""
    settings = SearchSettings(beam_size=3, max_length_offset=4)
    model = make_model()
    references = Translator(model, tiny_tokenizers, settings, max_tokens=2000).translate(sources)
    references[::3] = make_sentences(14, 22)
    references[4] = "Käse 🙂 …\u2028  doubled  spaces and one at the end "
    references[7] = ""
    return sources, references


@pytest.fixture
def data(tmp_path: Path, news_lines: tuple[list[str], list[str]]) -> dict[str, Any]:
    """A data section; its training files have never existed."""
    folder = tmp_path / "data"
    folder.mkdir()
    gone = {"source": str(folder / "gone.xx"), "target": str(folder / "gone.yy"), "file": None}
    return {
        "format": "files",
        "source_language": "xx",
        "target_language": "yy",
        "cleaning": {
            "max_length": 100,
            "max_ratio": 9.0,
            "drop_duplicates": True,
            "drop_copies": True,
            "drop_in_test": True,
        },
        "train": gone,
        "validation": gone,
        "test": {
            "news": {
                "source": write_lines(folder / "news.xx", news_lines[0]),
                "target": write_lines(folder / "news.yy", news_lines[1]),
                "file": None,
            }
        },
    }


@pytest.fixture
def make_run(tmp_path: Path, write: Callable[..., Path]) -> Callable[..., Path]:
    """Writes ``<tmp>/runs/<name>/checkpoints/best.ckpt`` and returns its path."""

    def make(name: str = "one", **arguments: Any) -> Path:
        return write(tmp_path / "runs" / name, **arguments)

    return make


@pytest.fixture
def write(
    make_contents: Callable[..., dict[str, Any]], data: dict[str, Any]
) -> Callable[..., Path]:
    """Writes a checkpoint into a run's folder and returns its path."""

    def make(
        run: Path,
        file: str = "best.ckpt",
        scores: dict[str, float] | None = None,
        config: dict[str, Any] | None = None,
        **arguments: Any,
    ) -> Path:
        contents = make_contents(**arguments)
        contents["latimer"] |= {"scores": scores or {}}
        contents["latimer"]["config"] |= {"data": data, **(config or {})}
        path = run / "checkpoints" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        write_checkpoint(contents, path)
        return path

    return make


@pytest.fixture(scope="session")
def make_config() -> Callable[..., EvaluateConfig]:
    """An evaluation's configuration: what ``conf/evaluate.yaml`` says, and changes to it."""

    def make(
        checkpoint: Path | list[Path], decoding: dict[str, Any] | None = None, **changes: Any
    ) -> EvaluateConfig:
        several = isinstance(checkpoint, list)
        unchanged = dict.fromkeys(DecodingChanges.model_fields)
        raw = {
            "checkpoint": [*map(str, checkpoint)] if several else str(checkpoint),
            "average": None,
            "average_of": "newest",
            "ensemble": None,
            "data": None,
            "decoding": {**unchanged, **(decoding or {})},
            "test_sets": None,
            "output_folder": None,
            "bootstrap": 100,
            "bleu_tokenizer": None,
            "lowercase": None,
            "comet": None,
            "report": False,
            "device": "cpu",
            **changes,
        }
        return check(raw, EvaluateConfig)

    return make
