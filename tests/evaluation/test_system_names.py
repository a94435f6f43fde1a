"""What tells checkpoints apart, at a glance."""

from pathlib import Path

import pytest

from latimer.evaluation.names import short_names

RUN, LATER = "/r/enm-en/2026-01-31_12-00-00", "/r/enm-en/2026-02-01_09-30-00"
CASES = {
    "one alone": (["/r/a/checkpoints/best.ckpt"], ["best.ckpt"]),
    "two runs of a name": (
        [f"{RUN}/checkpoints/best.ckpt", f"{LATER}/checkpoints/best.ckpt"],
        ["2026-01-31_12-00-00", "2026-02-01_09-30-00"],
    ),
    "two names": (
        [
            "/r/rotary/2026-01-31/checkpoints/best.ckpt",
            "/r/learned/2026-01-31/checkpoints/best.ckpt",
        ],
        ["rotary", "learned"],
    ),
    "names and times": (
        [
            "/r/rotary/2026-01-31/checkpoints/best.ckpt",
            "/r/learned/2026-02-01/checkpoints/best.ckpt",
        ],
        ["rotary/2026-01-31", "learned/2026-02-01"],
    ),
    "two states of a run": (
        [f"{RUN}/checkpoints/best.ckpt", f"{RUN}/checkpoints/step_0001000.ckpt"],
        ["best.ckpt", "step_0001000.ckpt"],
    ),
    "states of two runs": (
        [
            "/r/a/checkpoints/best.ckpt",
            "/r/a/checkpoints/average of the 2 newest",
            "/r/b/checkpoints/best.ckpt",
        ],
        ["a/best.ckpt", "a/average of the 2 newest", "b/best.ckpt"],
    ),
    "outside of runs": (["/m/one.ckpt", "/m/more/two.ckpt"], ["one.ckpt", "more/two.ckpt"]),
    "one path is the end of another": (
        ["/m/best.ckpt", "/m/other/best.ckpt"],
        ["best.ckpt", "other/best.ckpt"],
    ),
    "in and outside of a run": (
        ["/r/a/checkpoints/best.ckpt", "/r/a/best.ckpt"],
        ["checkpoints/best.ckpt", "best.ckpt"],
    ),
}


@pytest.mark.parametrize(("paths", "names"), CASES.values(), ids=CASES)
def test_names_are_short_telling_and_distinct(paths, names):
    found = short_names([Path(path) for path in paths])
    assert found == names
    assert len(set(found)) == len(paths)


def test_relative_paths_and_the_order_do_not_matter(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = [Path("a/checkpoints/best.ckpt"), tmp_path / "b" / "checkpoints" / "best.ckpt"]
    assert short_names(paths) == ["a", "b"]
    assert short_names(paths[::-1]) == ["b", "a"]
