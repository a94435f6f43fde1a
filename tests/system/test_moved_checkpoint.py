"""A checkpoint is enough by itself, and its scores are sacrebleu's (field cases 6, 83, 84, 104)."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from latimer.config.check import check
from latimer.config.run import RunConfig
from latimer.screen import Screen
from latimer.training.run import train
from latimer.translation import Translator
from toy_run import GOOD_ENOUGH, merge, toy_settings, write_pairs


@dataclass(frozen=True)
class Moved:
    """A checkpoint far from its run, which is gone; the test set has been moved as well."""

    folder: Path
    bleu: float
    translations: bytes

    @property
    def checkpoint(self) -> Path:
        return self.folder / "model.ckpt"


@pytest.fixture(scope="session")
def moved(tmp_path_factory) -> Moved:
    there, here = tmp_path_factory.mktemp("there"), tmp_path_factory.mktemp("here")
    settings = merge(toy_settings(there), GOOD_ENOUGH)
    settings["data"]["test"] = {"toy": write_pairs(there, "test", 70, 4)}
    run = train(check(settings, RunConfig), Screen())
    (here / "checkpoint").mkdir()
    shutil.copy(run / "checkpoints" / "best.ckpt", here / "checkpoint" / "model.ckpt")
    for name in ("test.en", "test.de"):
        shutil.copy(there / name, here / name)
    evaluation = run / "evaluation" / "toy"
    numbers = json.loads((evaluation / "result.json").read_text(encoding="utf-8"))
    bleu = numbers["scores"]["BLEU"]["score"]
    translations = (evaluation / "translations.txt").read_bytes()
    assert numbers["checkpoint"] == str(run / "checkpoints" / "best.ckpt")
    shutil.rmtree(there)
    return Moved(here / "checkpoint", bleu, translations)


@pytest.fixture
def evaluated(moved, new_command, tmp_path):
    """The folder of a result of ``evaluate.py``, started elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    ended = new_command(
        "evaluate.py",
        f"checkpoint={moved.checkpoint}",
        "data=files",
        "data.source_language=en",
        "data.target_language=de",
        f"data.test.toy.source={moved.folder.parent / 'test.en'}",
        f"data.test.toy.target={moved.folder.parent / 'test.de'}",
        "device=cpu",
        cwd=tmp_path / "elsewhere",
    )
    assert (ended.code, ended.complaints) == (0, "")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    return moved.folder / "evaluation" / "toy"


def test_it_gives_the_same_score_and_the_same_text_elsewhere(moved, evaluated):
    result = json.loads((evaluated / "result.json").read_text(encoding="utf-8"))
    assert 1.0 < moved.bleu < 99.0, "no test if all is right or all is wrong"
    assert result["scores"]["BLEU"]["score"] == moved.bleu
    assert (evaluated / "translations.txt").read_bytes() == moved.translations
    assert (evaluated / "references.txt").read_bytes() == (
        moved.folder.parent / "test.de"
    ).read_bytes()
    command = ["-m", "sacrebleu", "references.txt", "-i", "translations.txt", "-b", "-w", "16"]
    said = subprocess.run(
        [sys.executable, *command], cwd=evaluated, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == f"{moved.bleu:.16f}"


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_the_text_does_not_depend_on_what_is_translated_together(moved, batch):
    """Field case 6: each call below is one batch of the search."""
    lines = (moved.folder.parent / "test.en").read_text(encoding="utf-8").split("\n")[:-1]
    translator = Translator.from_checkpoint(moved.checkpoint, device="cpu")
    translator.max_tokens = 10**9
    texts = [
        text
        for start in range(0, len(lines), batch)
        for text in translator.translate(lines[start : start + batch])
    ]
    assert "".join(f"{text}\n" for text in texts).encode() == moved.translations


def test_as_many_lines_come_out_as_went_in(moved):
    """Field case 5."""
    translator = Translator.from_checkpoint(moved.checkpoint, device="cpu")
    texts = translator.translate(["the red boat", "", "  ", "a blue door"])
    assert len(texts) == 4
    assert texts[1:3] == ["", ""]
    assert texts[0]
    assert texts[3]
