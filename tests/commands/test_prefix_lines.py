"""Prefixes in step with the lines of the input."""

import gzip
import io
import os
import sys

import pytest

from latimer.commands.prefixes import Prefixes, count_lines
from latimer.errors import LatimerError


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "begins.txt"
    path.write_bytes("\ufeffeins\r\n\ndrei\nvier".encode())
    return path


@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_they_are_taken_in_order(path, chunk):
    prefixes = Prefixes(path, chunk)
    assert prefixes.take(1) == ["eins"]
    assert prefixes.take(0) == []
    assert prefixes.take(3) == ["", "drei", "vier"]
    assert prefixes.taken == 4
    prefixes.check_end()


def test_more_lines_than_prefixes(path):
    prefixes = Prefixes(path)
    prefixes.take(2)
    with pytest.raises(LatimerError, match="there are 4 prefixes, but at least 5 lines of input"):
        prefixes.take(3)


def test_more_prefixes_than_lines(path):
    prefixes = Prefixes(path)
    prefixes.take(2)
    with pytest.raises(LatimerError, match="there are at least 3 prefixes, but 2 lines of input"):
        prefixes.check_end()


def test_files_are_counted_beforehand(path, tmp_path):
    Prefixes(path).check_count([path])
    (tmp_path / "two.txt").write_text("one\n\n")
    with gzip.open(tmp_path / "one.gz", "wb") as file:
        file.write(b"one")
    inputs = [tmp_path / "two.txt", tmp_path / "one.gz"]
    assert [count_lines([each]) for each in (path, *inputs)] == [4, 2, 1]
    with pytest.raises(LatimerError, match=r"begins\.txt: there are 4 prefixes, but 3 lines"):
        Prefixes(path).check_count(inputs)
    Prefixes(path).check_count([*inputs, tmp_path / "one.gz"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such pipes")
def test_what_can_be_read_once_is_not_counted(path, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert count_lines([path, tmp_path / "pipe"]) is None
    Prefixes(path).check_count([tmp_path / "pipe"])


def test_no_more_are_read_than_a_chunk(monkeypatch):
    class Endless(io.BytesIO):
        blocks = 0

        def read1(self, size=-1, /):
            self.blocks += 1
            return b"one\n" * 10

    endless = Endless()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(endless))
    prefixes = Prefixes(None, 10)
    assert prefixes.name == "standard input"
    assert prefixes.take(10) == ["one"] * 10
    assert endless.blocks == 1


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(LatimerError, match=r"gone\.txt: can't be read \(No such file"):
        Prefixes(tmp_path / "gone.txt")
