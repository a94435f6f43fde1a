from pathlib import Path

import pytest

from latimer.data.pairs import Pair
from latimer.data.text_files import read_aligned
from latimer.errors import LatimerError


def test_line_by_line(tmp_path: Path) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_bytes("red boat\n\nblue\x85door\n".encode())
    target.write_bytes("rotes Boot\nnichts\nblaue Tür\n".encode())
    assert list(read_aligned(str(source), str(target))) == [
        Pair("red boat", "rotes Boot", str(source), 1),
        Pair("", "nichts", str(source), 2),
        Pair("blue\x85door", "blaue Tür", str(source), 3),
    ]


@pytest.mark.parametrize(("left", "right"), [(3, 2), (2, 3), (1, 0)])
def test_unequal_files(tmp_path: Path, left: int, right: int) -> None:  # field case 1
    source, target = tmp_path / "s.txt", tmp_path / "t.txt"
    source.write_bytes(b"line\n" * left)
    target.write_bytes(b"Zeile\n" * right)
    message = rf"s\.txt has {left} lines and .*t\.txt has {right}:"
    with pytest.raises(LatimerError, match=message):
        list(read_aligned(str(source), str(target)))
