"""Pairs as a table in memory."""

import pytest

from latimer.data import pairs as pairs_module
from latimer.data.pairs import Pair, dataset_of, subset


@pytest.mark.parametrize("at_once", [1, 3, 50])
@pytest.mark.parametrize("rows", [[], [0], [9], [1, 2, 5, 6], [0, 3, 4, 8], list(range(10))])
def test_a_subset_has_the_chosen_pairs_in_their_order(monkeypatch, at_once, rows):
    monkeypatch.setattr(pairs_module, "ROWS_AT_ONCE", at_once)
    pairs = dataset_of(Pair(f"s{line}", f"t{line}", "f", line) for line in range(1, 11))
    assert subset(pairs, rows).to_list() == [
        {"source": f"s{row + 1}", "target": f"t{row + 1}", "file": "f", "line": row + 1}
        for row in rows
    ]
