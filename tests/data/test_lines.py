import gzip
from pathlib import Path

import pytest

from latimer.data.lines import one_line, read_lines
from latimer.errors import LatimerError


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, name: str) -> None:
    odd = "a\rb\fc\x0bd\x1ce\x85f\u2028g\u2029h"
    path = write(tmp_path / name, f"{odd}\nsecond\n\n third \n".encode())
    assert list(read_lines(path)) == [odd, "second", "", " third "]


def test_a_carriage_return_before_the_line_feed_goes(tmp_path: Path) -> None:  # field case 3
    unix = write(tmp_path / "unix.txt", "eins\nzwei\ndrei\nvier\nfünf\n".encode())
    windows = write(tmp_path / "windows.txt", "eins\r\nzwei\r\ndrei\r\nvier\r\nfünf\r\n".encode())
    assert list(read_lines(unix)) == list(read_lines(windows))


@pytest.mark.parametrize(
    ("content", "lines"),
    [(b"", []), (b"\n", [""]), (b"a", ["a"]), (b"a\n", ["a"]), (b"a\n\n", ["a", ""])],
)
def test_the_last_line_may_lack_its_end(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    assert list(read_lines(write(tmp_path / "a.txt", content))) == lines


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:  # field case 9
    path = write(tmp_path / "a.txt", "\ufeffKäse\n\ufeffcheese\n".encode())
    assert list(read_lines(path)) == ["Käse", "\ufeffcheese"]


def test_a_byte_that_is_not_utf8(tmp_path: Path) -> None:  # field case 9
    path = write(tmp_path / "a.txt", b"one\ncaf\xe9\nthree\n")
    with pytest.raises(LatimerError, match=r"a\.txt, line 2: byte 0xE9 is not UTF-8"):
        list(read_lines(path))


def test_a_nul(tmp_path: Path) -> None:  # field case 1
    with pytest.raises(LatimerError, match=r"a\.txt, line 3: .*NUL"):
        list(read_lines(write(tmp_path / "a.txt", b"one\ntwo\nth\0ree\n")))


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b"a\n" * 1000)[:-12]], ids=["no gzip", "cut short"]
)
def test_a_broken_gzip(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(content)
    with pytest.raises(LatimerError, match=r"a\.txt\.gz: can't be read"):
        list(read_lines(path))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(LatimerError, match=r"nothing\.txt: there is no such file"):
        list(read_lines(tmp_path / "nothing.txt"))
    with pytest.raises(LatimerError, match="can't be read"):
        list(read_lines(tmp_path))


def test_a_record_becomes_one_line() -> None:
    assert one_line("a\r\nb\nc\u2028d\re", "here") == "a b c\u2028d\re"
    for nothing in (None, 3, "a\0b", "\ud800"):
        with pytest.raises(LatimerError, match="here"):
            one_line(nothing, "here")
