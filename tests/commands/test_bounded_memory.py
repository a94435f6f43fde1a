"""However long the input is, no more of it is held than two chunks: the new, and the one before.

The bytes of a line are not counted: of those, a chunk and a block of 64 KiB are read ahead.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest

from latimer.commands.answers import Format
from latimer.commands.prefixes import Prefixes
from latimer.commands.translate import Request, translate
from latimer.commands.work import Work
from latimer.decoding import Hypothesis
from latimer.translation import Translation

LINES = 5000
FOUND = Hypothesis(ids=(5,), log_probability=-1.0, score=-1.0, finished=True)


class Line(str):
    """Text that is counted while it lives."""

    living = most = 0

    def __new__(cls, text=""):
        Line.living += 1
        Line.most = max(Line.most, Line.living)
        return super().__new__(cls, text)

    def __del__(self):
        Line.living -= 1


class StandIn:
    """Translates without a model; texts are counted like lines."""

    max_source_length = None
    tokenizers = SimpleNamespace(target=SimpleNamespace(decode=lambda ids: Line("x")))

    def translations(self, lines, prefixes=None):
        return [Translation(Line("x"), (FOUND,)) for _ in lines]


def count_from_here(monkeypatch):
    """Counts the lines that are read from now on, and their translations."""
    from latimer.data import chunks

    read = chunks.decode_line
    monkeypatch.setattr(chunks, "decode_line", lambda *line: Line(read(*line)))
    monkeypatch.setattr(Line, "living", 0)
    monkeypatch.setattr(Line, "most", 0)


@pytest.mark.parametrize("chunk", [10, 100])
@pytest.mark.parametrize("begun", [False, True], ids=["free", "begun"])
def test_the_command_holds_two_chunks(tmp_path, monkeypatch, chunk, begun):
    (tmp_path / "lines").write_text("".join(f"{number}\n" for number in range(LINES)))
    count_from_here(monkeypatch)
    prefixes = Prefixes(tmp_path / "lines", chunk) if begun else None
    monkeypatch.setattr(
        "latimer.commands.translate._prepare",
        lambda request, _prefixes: Work(StandIn(), 1, None, prefixes),
    )
    translate(
        Request(
            checkpoint=Path("none"),
            ensemble=[],
            files=[tmp_path / "lines"],
            prefixes=None,
            changes={},
            n_best=None,
            written=Format(),
            output=tmp_path / "out",
            alignments=None,
            alignment_layer=None,
            chunk=chunk,
            device="cpu",
            quiet=True,
        )
    )
    assert (tmp_path / "out").read_text() == "x\n" * LINES
    # Of each line of a chunk: itself, its prefix, its translation, and the text of its candidate.
    assert chunk <= Line.most <= 2 * (3 + begun) * chunk
    assert Line.living == 0
