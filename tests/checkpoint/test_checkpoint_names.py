"""One state under several names, and the one that a run folder stands for."""

import errno
import os

import pytest

from latimer.checkpoint import (
    FORMAT,
    find_checkpoint,
    name_too,
    read_checkpoint,
    read_final,
    write_checkpoint,
    write_final,
)
from latimer.errors import LatimerError


@pytest.fixture
def write(tmp_path):
    folder = tmp_path / "checkpoints"
    folder.mkdir()

    def make(name, value):
        write_checkpoint({"latimer": {"format": FORMAT}, "value": value}, folder / name)
        return folder / name

    return make


def value(path):
    return read_checkpoint(path)["value"]


def refuse(*_arguments):
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize("links", [True, False])
def test_both_names_live_on_their_own(write, monkeypatch, links):
    """Field case 81: neither replacing nor deleting one reaches the other."""
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    last, best = write("last.ckpt", 1), write("best.ckpt", 0)
    name_too(last, best)
    assert last.samefile(best) == links
    name_too(last, best)
    assert not best.is_symlink()
    write("last.ckpt", 2)
    assert (value(last), value(best)) == (2, 1)
    last.unlink()
    assert value(best) == 1
    assert [path.name for path in best.parent.iterdir()] == ["best.ckpt"]


def test_a_full_disk_leaves_the_former_file(write, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    last, best = write("last.ckpt", 1), write("best.ckpt", 0)
    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LatimerError, match=r"best\.ckpt: not written \(No space left on device\)"):
        name_too(last, best)
    assert value(best) == 0
    assert sorted(path.name for path in best.parent.iterdir()) == ["best.ckpt", "last.ckpt"]


def test_what_a_run_folder_stands_for(write, tmp_path):
    best, averaged = write("best.ckpt", "best"), write("averaged.ckpt", "averaged")
    assert find_checkpoint(tmp_path) == best
    scores = {"best.ckpt": {"val/bleu": 1.0}, "averaged.ckpt": {"val/bleu": 2.0}}
    write_final(best.parent, "averaged.ckpt", scores)
    assert find_checkpoint(tmp_path) == averaged
    assert read_final(best.parent) == {"checkpoint": "averaged.ckpt", "validation": scores}
    assert value(tmp_path) == "averaged"
    averaged.unlink()
    assert find_checkpoint(tmp_path) == best
    (best.parent / "final.json").write_text('{"checkpoint": ', encoding="utf-8")
    with pytest.raises(LatimerError, match=r"final\.json: is broken; delete it, and best\.ckpt"):
        find_checkpoint(tmp_path)
