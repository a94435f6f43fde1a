import errno
import os
import subprocess
import sys
from collections import OrderedDict
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf

from latimer.checkpoint import FORMAT, read_checkpoint, write_checkpoint
from latimer.errors import LatimerError


class Colour(Enum):
    RED = 1


class RunsCode:
    """Pickled as a call of ``Path.touch``: whoever unpickles it makes a file."""

    def __init__(self, witness: Path) -> None:
        self.witness = witness

    def __reduce__(self):
        return os.system, (f"touch '{self.witness}'",)


def contents_with(value: object) -> dict[str, object]:
    return {"latimer": {"format": FORMAT, "version": "0.1.0"}, "value": value}


def test_what_is_written_is_read_back(tmp_path):
    value = {
        "tensor": torch.arange(6.0).view(2, 3),
        "text": "Käse",
        "bytes": b"\x00\xff\n",
        "values": [1, 2.5, True, None, 2**80],
        "betas": (0.9, 0.98),
        7: "numbered",
    }
    write_checkpoint(contents_with(value), tmp_path / "a.ckpt")
    read = read_checkpoint(tmp_path / "a.ckpt")["value"]
    assert torch.equal(read.pop("tensor"), value.pop("tensor"))
    assert read == value
    assert [file.name for file in tmp_path.iterdir()] == ["a.ckpt"]


def test_the_safe_loader_opens_every_file(tmp_path):  # field case 82
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    contents = contents_with(optimizer.state_dict()) | {"state_dict": model.state_dict()}
    assert isinstance(contents["state_dict"], OrderedDict)
    write_checkpoint(contents, tmp_path / "a.ckpt")
    read = torch.load(tmp_path / "a.ckpt", weights_only=True)
    assert type(read["state_dict"]) is dict
    assert read["value"]["param_groups"][0]["betas"] == (0.9, 0.999)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (OmegaConf.create([1]), "ListConfig"),
        (OmegaConf.create({"a": 1}), "DictConfig"),
        (np.float64(1.0), "float64"),
        (np.zeros(2), "ndarray"),
        (Colour.RED, "Colour"),
        (torch.Size([1]), "Size"),
        ({1, 2}, "set"),
        (Path("x"), "PosixPath"),
        (torch.float32, "dtype"),
        (torch.nn.Linear(1, 1), "Linear"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path, value, kind):  # field case 82
    with pytest.raises(LatimerError, match=rf"checkpoint\['value'\]\[1\] is a .*{kind}"):
        write_checkpoint(contents_with([0, value]), tmp_path / "a.ckpt")
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_text_or_a_number(tmp_path):
    with pytest.raises(LatimerError, match=r"has the key \(1, 2\)"):
        write_checkpoint(contents_with({(1, 2): 3}), tmp_path / "a.ckpt")


def test_one_matrix_under_two_names_stays_one(tmp_path):
    matrix = torch.nn.Parameter(torch.ones(100, 100))
    write_checkpoint(contents_with([matrix, matrix]), tmp_path / "a.ckpt")
    first, second = read_checkpoint(tmp_path / "a.ckpt")["value"]
    assert first.data_ptr() == second.data_ptr()
    assert (tmp_path / "a.ckpt").stat().st_size < 2 * matrix.nbytes


# field case 89: the kernel ends the writing at 100 kB, as a full disk would.
FULL_DISK = """
import resource, signal, sys, torch
from latimer.checkpoint import FORMAT, write_checkpoint
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
contents = {"latimer": {"format": FORMAT}, "value": torch.zeros(1_000_000)}
write_checkpoint(contents, sys.argv[1])
"""


def test_a_full_disk_leaves_the_former_file(tmp_path):
    path = tmp_path / "last.ckpt"
    write_checkpoint(contents_with("former"), path)
    process = subprocess.run(
        [sys.executable, "-c", FULL_DISK, path], capture_output=True, text=True, check=False
    )
    assert "LatimerError" in process.stderr
    assert f"{path}: not written (File too large)" in process.stderr
    assert "the file that was there before is intact" in process.stderr
    assert read_checkpoint(path)["value"] == "former"
    assert [file.name for file in tmp_path.iterdir()] == ["last.ckpt"]


# Checks and reads a file, uses all of it, and prints how much more memory that took at most.
READING = """
import sys
from benchmarks.memory import peak_resident, reset_peak, resident
from latimer.checkpoint import read_checkpoint
reset_peak()
before = resident()
sums = [tensor.sum() for tensor in read_checkpoint(sys.argv[1])["value"]]
print(len(sums), peak_resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's own peak")
def test_reading_takes_no_multiple_of_the_file_in_memory(tmp_path):
    """Field case 89."""
    write_checkpoint(contents_with([torch.rand(8_000_000) for _ in range(3)]), tmp_path / "a.ckpt")
    process = subprocess.run(
        [sys.executable, "-c", READING, tmp_path / "a.ckpt"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    tensors, grown = map(int, process.stdout.split())
    size = (tmp_path / "a.ckpt").stat().st_size
    assert tensors == 3
    assert 0.5 * size < grown < 1.2 * size


def test_a_disk_that_is_found_full_when_it_synchronises(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write_checkpoint(contents_with("former"), tmp_path / "a.ckpt")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LatimerError, match=r"a\.ckpt: not written \(No space left on device\)"):
        write_checkpoint(contents_with("new"), tmp_path / "a.ckpt")
    assert read_checkpoint(tmp_path / "a.ckpt")["value"] == "former"
    assert [file.name for file in tmp_path.iterdir()] == ["a.ckpt"]


def test_a_file_that_would_run_code_is_not_opened(tmp_path):
    witness = tmp_path / "witness"
    torch.save(contents_with(RunsCode(witness)), tmp_path / "evil.ckpt")
    with pytest.raises(LatimerError, match="was not opened, since such a file can run code"):
        read_checkpoint(tmp_path / "evil.ckpt")
    legacy = {"_use_new_zipfile_serialization": False}
    torch.save(contents_with(RunsCode(witness)), tmp_path / "old.ckpt", **legacy)
    with pytest.raises(LatimerError):
        read_checkpoint(tmp_path / "old.ckpt")
    assert not witness.exists()
    torch.load(tmp_path / "evil.ckpt", weights_only=False)
    assert witness.exists(), "the test's own weapon does not fire"


def test_a_missing_file_names_those_that_are_there(tmp_path):
    folder = tmp_path / "run" / "checkpoints"
    folder.mkdir(parents=True)
    for name in ("best.ckpt", "last.ckpt"):
        write_checkpoint(contents_with(name), folder / name)
    for wrong in (folder / "bset.ckpt", tmp_path / "run" / "best.ckpt"):
        with pytest.raises(LatimerError, match="there is no such checkpoint") as caught:
            read_checkpoint(wrong)
        assert str(folder / "best.ckpt") in str(caught.value)
        assert str(folder / "last.ckpt") in str(caught.value)


def test_a_run_folder_stands_for_its_best_checkpoint(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    write_checkpoint(contents_with("last"), tmp_path / "checkpoints" / "last.ckpt")
    with pytest.raises(LatimerError, match=r"no run with a best checkpoint(.|\n)*last\.ckpt"):
        read_checkpoint(tmp_path)
    write_checkpoint(contents_with("best"), tmp_path / "checkpoints" / "best.ckpt")
    assert read_checkpoint(tmp_path)["value"] == "best"


def test_damaged_files_are_named(tmp_path):
    write_checkpoint(contents_with(torch.ones(1000)), tmp_path / "whole.ckpt")
    half = (tmp_path / "whole.ckpt").read_bytes()[:2000]
    for damage in (half, b"", b"no checkpoint at all\n" * 100):
        (tmp_path / "half.ckpt").write_bytes(damage)
        with pytest.raises(LatimerError, match=r"half\.ckpt: this is no checkpoint, or it is inc"):
            read_checkpoint(tmp_path / "half.ckpt")


def test_a_single_wrong_bit_is_found(tmp_path):
    """The weights would be numbers still, and other ones."""
    path = tmp_path / "a.ckpt"
    write_checkpoint(contents_with(torch.ones(1000)), path)
    content = bytearray(path.read_bytes())
    sign_of_a_weight = content.index(b"\x00\x00\x80\x3f" * 100) + 4 * 50 + 3
    content[sign_of_a_weight] ^= 0x80
    path.write_bytes(content)
    with pytest.raises(LatimerError, match=r"a\.ckpt: .* incomplete or damaged"):
        read_checkpoint(path)


@pytest.mark.parametrize("contents", [{"state_dict": {}}, [1, 2], {"latimer": {}}])
def test_a_file_of_others_is_not_ours(tmp_path, contents):
    torch.save(contents, tmp_path / "theirs.ckpt")
    with pytest.raises(LatimerError, match=r"theirs\.ckpt: this is not a checkpoint of latimer's"):
        read_checkpoint(tmp_path / "theirs.ckpt")


def test_a_format_from_the_future(tmp_path):  # field case 86
    contents = {"latimer": {"format": FORMAT + 1, "version": "9.1.0"}}
    write_checkpoint(contents, tmp_path / "a.ckpt")
    with pytest.raises(LatimerError, match=r"made by latimer 9\.1\.0 in format 2, but .* format 1"):
        read_checkpoint(tmp_path / "a.ckpt")
