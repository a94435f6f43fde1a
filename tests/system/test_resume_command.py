"""``python train.py resume=RUN_FOLDER``, as a person types it."""

import pytest
import torch

from toy_run import toy_overrides

QUICKLY = {
    "trainer.max_updates": 2,
    "validation.bleu_sentences": 2,
    "validation.attention_sentences": 0,
    "checkpoints.newest": 0,
}


def updates_in(run):
    last = torch.load(run / "checkpoints" / "last.ckpt", weights_only=True)
    return last["latimer"]["updates"]


@pytest.mark.slow
def test_the_three_modes(command, tmp_path, monkeypatch):
    """Field cases 75 and 77: new, resume and overwrite, in the folder of a finished run."""
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    new = [*toy_overrides(tmp_path, QUICKLY), f"run_folder={run}"]
    assert command("train.py", *new).code == 0

    refused = command("train.py", *new)
    assert (refused.code, refused.complaints.count("error: ")) == (1, 1)
    assert f"resume={run} to go on with it, or mode=overwrite" in refused.complaints

    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    nothing = command("train.py", "resume=../run")
    assert nothing.code == 1
    assert nothing.complaints == (
        "error: resume=../run: it is at update 2 and trainer.max_updates is 2: nothing to do; "
        "raise trainer.max_updates\n"
    )
    changed = command("train.py", "resume=../run", "schedule.rate=0.5", "model.heads=1")
    assert changed.code == 1
    assert "schedule.rate=0.5: it has 0.003" in changed.complaints
    assert "model.heads=1: it has 2" in changed.complaints

    assert command("train.py", "resume=../run", "trainer.max_updates=3").code == 0
    assert updates_in(run) == 3
    assert list(elsewhere.iterdir()) == []
    assert not (tmp_path / "runs").exists()

    assert command("train.py", *new, "mode=overwrite").code == 0
    assert updates_in(run) == 2


@pytest.mark.parametrize("path", ["nowhere", ".", "runs"])
def test_a_folder_that_is_no_run(command, tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    ended = command("train.py", f"resume={path}")
    assert ended.code == 1
    assert ended.complaints.startswith(f"error: resume={path}: ")
    assert ended.complaints.count("\n") == 1
