"""A result tells how many of its sources hold characters that the model has never seen."""

import json
from pathlib import Path

from latimer.evaluation import evaluate
from latimer.screen import Screen

SOURCES = ["the 🙂 boat", "the sea", "Ж", "", "a red Ж door Ж", "old house"]
REFERENCES = ["the boat", "Ж", "the door", "", "a door", "Ж"]


def test_sources_are_counted_and_not_references(make_run, make_config, data, capsys):
    # field case 117
    for side, lines in (("source", SOURCES), ("target", REFERENCES)):
        text = "".join(f"{line}\n" for line in lines)
        Path(data["test"]["news"][side]).write_text(text, encoding="utf-8")
    [result] = evaluate(make_config(make_run(), bootstrap=0), Screen())
    written = json.loads((result.folder / "result.json").read_text(encoding="utf-8"))
    assert written["counts"]["sources_with_unknown_characters"] == 3
    assert written["counts"] == result.counts()
    assert "3 sources with unknown characters" in capsys.readouterr().out
    references = (result.folder / "references.txt").read_text(encoding="utf-8")
    assert references.split("\n")[:-1] == REFERENCES
