"""A test set of which a line is missing on one side is refused, never shortened."""

from pathlib import Path

import pytest

from latimer.errors import LatimerError
from latimer.evaluation import evaluate
from latimer.screen import Screen


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_missing_line_is_told_with_both_counts(make_run, make_config, data, monkeypatch, side):
    # field case 107
    file = Path(data["test"]["news"][side])
    lines = file.read_text(encoding="utf-8").split("\n")
    file.write_text("\n".join([*lines[:-2], ""]), encoding="utf-8")
    monkeypatch.setattr("latimer.evaluation.run.evaluate_systems", None)
    run = make_run()
    with pytest.raises(LatimerError) as caught:
        evaluate(make_config(run), Screen())
    counts = {"news.xx": 40, "news.yy": 40, file.name: 39}
    for name, count in counts.items():
        assert f"{name} has {count}" in str(caught.value)
    assert not list(run.parents[1].glob("evaluation/*"))
