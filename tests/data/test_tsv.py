from pathlib import Path

import pytest

from latimer.data.tsv import read_tsv
from latimer.errors import LatimerError


def test_the_first_row_is_data_and_quotes_are_text(tmp_path: Path) -> None:  # field case 12
    path = tmp_path / "a.tsv"
    path.write_text('en\tde\n"red\trot"\n\t\n', encoding="utf-8")
    pairs = list(read_tsv(str(path)))
    assert [pair[:2] for pair in pairs] == [("en", "de"), ('"red', 'rot"'), ("", "")]
    assert [pair.line for pair in pairs] == [1, 2, 3]


@pytest.mark.parametrize(("row", "columns"), [("a\tb\tc", 3), ("a", 1), ("", 1)])
def test_a_row_without_two_columns(tmp_path: Path, row: str, columns: int) -> None:  # field case 12
    path = tmp_path / "a.tsv"
    path.write_text(f"red\trot\n{row}\n", encoding="utf-8")
    with pytest.raises(LatimerError, match=rf"a\.tsv, line 2: {columns} columns"):
        list(read_tsv(str(path)))
