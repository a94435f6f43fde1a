import gzip
import io
import os
import threading
from pathlib import Path

import pytest

from latimer.data.chunks import BLOCK, LineInput, chunks_of_lines
from latimer.data.lines import read_lines
from latimer.errors import LatimerError


class Counted(io.BytesIO):
    """Counts the blocks that are asked for."""

    blocks = 0

    def read1(self, size=-1, /):
        self.blocks += 1
        return super().read1(size)


@pytest.fixture
def pipe():
    """Both ends of a pipe, for a program that writes and waits for the answer."""
    there, here = os.pipe()
    with os.fdopen(there, "rb") as reader, os.fdopen(here, "wb", buffering=0) as writer:
        hung = threading.Timer(30, writer.close)  # whoever waits for more then gets the end
        hung.start()
        yield reader, writer
        hung.cancel()


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_chunks_hold_the_lines_of_a_file(tmp_path, name, size):  # field case 6
    rows = "".join(f"line {number} \u2028 {'x' * number}\n" for number in range(500))
    content = f"\ufeffKäse\r\n\r\n{rows}end".encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    chunks = list(LineInput(path).chunks(size))
    assert [line for chunk in chunks for line in chunk] == list(read_lines(path))
    assert [len(chunk) for chunk in chunks[:-1]] == [size] * (len(chunks) - 1)


def test_nothing_is_read_that_is_not_yet_needed():
    stream = Counted(b"seven b\n" * (10 * BLOCK // 8))
    chunks = chunks_of_lines(stream, 100)
    next(chunks)
    assert stream.blocks == 1
    for _ in range(BLOCK // 800):
        next(chunks)
    assert stream.blocks == 2


def test_a_line_is_answered_though_the_next_one_is_not_there_yet(pipe):
    reader, writer = pipe
    chunks = chunks_of_lines(reader, 1000)
    writer.write(b"one\ntw")
    assert next(chunks) == [b"one"]
    writer.write(b"o\nthree\n")
    assert next(chunks) == [b"two", b"three"]
    writer.write(b"no line feed")
    writer.close()
    assert list(chunks) == [[b"no line feed"]]


def test_a_writer_that_is_fast_enough_gets_full_chunks(pipe):
    reader, writer = pipe
    writer.write(b"line\n" * 100)
    writer.close()
    assert [len(chunk) for chunk in chunks_of_lines(reader, 40)] == [40, 40, 20]


def test_what_stands_before_a_bad_byte_is_kept(tmp_path):  # field case 9
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\nthree\ncaf\xe9\nfive\n")
    chunks = LineInput(path).chunks(2)
    assert [next(chunks), next(chunks)] == [["one", "two"], ["three"]]
    with pytest.raises(LatimerError, match=r"a\.txt, line 4: byte 0xE9 is not UTF-8"):
        next(chunks)


def test_standard_input_is_called_so(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xe9\n")))
    source = LineInput(None)
    assert source.size is None
    chunks = source.chunks(10)
    assert next(chunks) == ["a"]
    with pytest.raises(LatimerError, match="standard input, line 2: byte 0xE9"):
        next(chunks)


def test_a_file_tells_how_far_it_is_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("line\n" * 100)
    source = LineInput(path)
    assert (source.size, source.position) == (500, 0)
    assert [source.position for _ in source.chunks(30)] == [150, 300, 450, 500]
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"line\n" * 100))
    compressed = LineInput(tmp_path / "a.txt.gz")
    assert [*compressed.chunks(1000)] == [["line"] * 100]
    assert compressed.position == compressed.size


def test_what_cannot_be_read_is_found_before_a_line_is(tmp_path, monkeypatch):
    with pytest.raises(LatimerError, match=r"nothing\.txt: can't be read \(No such file"):
        LineInput(tmp_path / "nothing.txt")
    with pytest.raises(LatimerError, match="name a text file"):
        LineInput(tmp_path)
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(LatimerError, match="standard input is closed"):
        LineInput(None)


def test_a_broken_gzip_is_named(tmp_path):
    path: Path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"a\n" * 1000)[:-12])
    with pytest.raises(LatimerError, match=r"a\.txt\.gz: can't be read"):
        list(LineInput(path).chunks(10))
