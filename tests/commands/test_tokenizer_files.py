"""``latimer export-tokenizer``: files with which other programs cut text as the model does."""

import sys

import pytest
from sentencepiece import SentencePieceProcessor

from latimer.checkpoint import write_checkpoint
from latimer.cli import main
from latimer.commands.tokenizer_files import export_tokenizer
from latimer.errors import LatimerError
from latimer.tokenizer import Tokenizer


def test_the_command_writes_what_cuts_text_the_same_way(
    tiny_checkpoint, tiny_tokenizer, tmp_path, monkeypatch, capsys
):
    folder = tmp_path / "new" / "folder"
    arguments = ["latimer", "export-tokenizer", tiny_checkpoint.parents[1], folder]
    monkeypatch.setattr(sys, "argv", [*map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    [path] = folder.iterdir()
    assert capsys.readouterr().out == f"{path}\n"
    assert path.name == "tokenizer.model"
    assert Tokenizer.from_file(path) == tiny_tokenizer
    text = "the red boat"
    ids = SentencePieceProcessor(model_file=str(path)).encode(text)
    assert ids == tiny_tokenizer.encode(text)


def test_separate_vocabularies_are_two_files(make_contents, separate_tokenizers, tmp_path):
    write_checkpoint(make_contents(tokenizers=separate_tokenizers), tmp_path / "best.ckpt")
    paths = export_tokenizer(tmp_path / "best.ckpt", tmp_path)
    assert [path.name for path in paths] == ["source_tokenizer.model", "target_tokenizer.model"]
    assert tuple(map(Tokenizer.from_file, paths)) == separate_tokenizers


def test_nothing_is_written_over(make_contents, separate_tokenizers, tmp_path):
    write_checkpoint(make_contents(tokenizers=separate_tokenizers), tmp_path / "best.ckpt")
    (tmp_path / "target_tokenizer.model").write_text("mine")
    with pytest.raises(LatimerError, match=r"target_tokenizer\.model: is there already"):
        export_tokenizer(tmp_path / "best.ckpt", tmp_path)
    assert (tmp_path / "target_tokenizer.model").read_text() == "mine"
    assert not (tmp_path / "source_tokenizer.model").exists()


def test_a_folder_that_cannot_be_made(tiny_checkpoint, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(LatimerError, match=r"file.inner: cannot be written to \(Not a directory"):
        export_tokenizer(tiny_checkpoint, tmp_path / "file" / "inner")
