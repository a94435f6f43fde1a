"""The bar that a person sees, and when there is one."""

import io
import sys
from pathlib import Path

import pytest

from latimer.commands import progress
from latimer.commands.answers import Format
from latimer.commands.translate import HERE, Request, shows_bar
from latimer.data.chunks import LineInput


class Stream(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def request(**changes):
    nothing = {
        "changes": {},
        "ensemble": (),
        "written": Format(),
        "alignments": None,
        "prefixes": None,
    }
    usual = {"checkpoint": Path("c"), "files": [Path("in.txt")], "output": None, "n_best": None}
    more = {"alignment_layer": None, "chunk": 1000, "device": "auto", "quiet": False}
    return Request(**{**nothing, **usual, **more, **changes})


@pytest.mark.parametrize(
    ("terminals", "changes", "shown"),
    [
        (["stderr"], {}, True),
        (["stderr", "stdin"], {}, True),
        ([], {}, False),
        (["stderr"], {"quiet": True}, False),
        (["stderr", "stdout"], {}, False),
        (["stderr", "stdout"], {"output": Path("out.txt")}, True),
        (["stderr", "stdin"], {"files": [HERE]}, False),
        (["stderr", "stdin"], {"files": []}, False),
        (["stdout", "stdin"], {"output": Path("out.txt")}, False),
    ],
)
def test_there_is_a_bar_where_it_is_seen_and_disturbs_nobody(
    monkeypatch, terminals, changes, shown
):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, Stream(name in terminals))
    assert shows_bar(request(**changes)) is shown


def test_the_bar_tells_how_far_the_files_are(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(progress.Progress, "update", lambda self, task, **how: seen.append(how))
    (tmp_path / "a.txt").write_text("line\n" * 10)
    source = LineInput(tmp_path / "a.txt")
    with progress.progress_bar([source, source]) as advance:
        next(source.chunks(4))
        advance(4)
    assert seen == [{"completed": 40, "lines": 4}]


@pytest.mark.parametrize(("sizes", "total"), [([5, 6], 11), ([0], 0), ([5, None], None)])
def test_the_end_is_known_of_files_alone(monkeypatch, sizes, total):
    totals = []
    monkeypatch.setattr(
        progress.Progress, "add_task", lambda self, _, **how: totals.append(how["total"])
    )

    class Sized:
        def __init__(self, size):
            self.size = size

    with progress.progress_bar([Sized(size) for size in sizes]):
        assert totals == [total]
