"""Files that are there when they are complete."""

import gzip
import os
import stat

import pytest

from latimer.commands.output import open_output
from latimer.errors import LatimerError


def test_a_file_appears_when_all_is_written(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("former\n")
    with open_output(path) as output:
        output.write(["Käse", ""])
        assert path.read_text() == "former\n"
    assert path.read_bytes() == "Käse\n\n".encode()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, LatimerError])
def test_nothing_half_written_is_left(tmp_path, error):
    def interrupted():
        with open_output(tmp_path / "out.txt") as output:
            output.write(["one"])
            raise error

    with pytest.raises(error):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_a_name_in_gz_compresses(tmp_path):
    with open_output(tmp_path / "out.txt.gz") as output:
        output.write(["one", "two"])
    with gzip.open(tmp_path / "out.txt.gz") as file:
        assert file.read() == b"one\ntwo\n"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with open_output(tmp_path / "link") as output:
        output.write(["one"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "one\n"


def test_a_pipe_stays_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open_output(path) as output:
        output.write(["one"])
        assert os.read(reader, 100) == b"one\n"
    os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_folder_that_is_not_there(tmp_path):
    with (
        pytest.raises(LatimerError, match=r"out\.txt: cannot be written to \(No such file"),
        open_output(tmp_path / "gone" / "out.txt"),
    ):
        pass


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with (
        pytest.raises(LatimerError, match=r"out\.txt: cannot be written to \(No space left"),
        open_output(tmp_path / "out.txt") as output,
    ):
        output.write(["one"])
    assert list(tmp_path.iterdir()) == []
