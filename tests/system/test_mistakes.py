"""Mistakes end in one message and an exit code, and leave nothing behind (acceptance 8)."""

import pytest

from toy_run import toy_overrides

MISTAKES = {
    "a misspelt key": (["++model.dmodel=3"], "model.dmodel=3: unknown key; did you mean"),
    "an unknown key": (["optimizer.learning_rate=abc"], "optimizer.learning_rate=abc: unknown key"),
    "no number": (["schedule.rate=abc"], "schedule.rate=abc: must be a number"),
    "a wrong width": (["model.heads=3", "model.d_model=64"], "model.heads=3: must divide d_model"),
    "no updates": (["trainer.max_updates=0"], "trainer.max_updates=0: must be at least 1"),
    "no steps": (["max_steps=0"], "max_steps=0: unknown key; did you mean trainer.max_updates?"),
    "a fraction": (
        ["validation.every_updates=1.0"],
        "every_updates=1.0: must be a whole",
    ),
    "no such metric": (["checkpoints.monitor=val/blue"], "checkpoints.monitor=val/blue: must be"),
    "a missing file": (["data.train.source=no.en"], "no.en"),
    "no such option": (["model=tinny"], "model=tinny: no such option; did you mean tiny?"),
    "dashes": (["--schedule.rate", "0.1"], "write schedule.rate=0.1"),
    "no such plug-in": (["callbacks.mine._target_=no.Such"], "callbacks.mine: no.Such"),
}


def assert_one_message(ended, message, folder):
    assert ended.code == 1
    assert ended.complaints.startswith("error: ")
    assert message in ended.complaints
    assert ended.complaints.count("error: ") == 1
    assert "Traceback" not in ended.complaints
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(("overrides", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_the_configuration(command, tmp_path, monkeypatch, overrides, message):
    # field cases 64, 66, 128, 129 and 142
    monkeypatch.chdir(tmp_path)
    ended = command("train.py", *toy_overrides(tmp_path), *overrides)
    assert_one_message(ended, message, tmp_path)
    assert ended.shown == ""


def test_what_is_seldom_meant_is_warned_of_before_all_else(command, tmp_path, monkeypatch):
    """Field case 54: a post-norm model without a warm-up."""
    monkeypatch.chdir(tmp_path)
    unwise = ("schedule.warmup_updates=0", "data.train.source=no.en")
    ended = command("train.py", *toy_overrides(tmp_path), *unwise)
    assert_one_message(ended, "no.en", tmp_path)
    assert ended.shown.startswith("warning: model.norm_position=post without warm-up")


FAULTS = {
    "unequal files": ("train.de", b"eins\nzwei\n", ["train.en", "96", "train.de", "2"]),
    "not UTF-8": ("train.de", b"eins\nK\xe4se\n" + 94 * b"x\n", ["train.de", "line 2", "0xE4"]),
    "a NUL": ("first.en", b"one\n\x00two\n" + 8 * b"x\n", ["first.en", "line 2", "NUL"]),
}


@pytest.mark.parametrize(("name", "content", "parts"), FAULTS.values(), ids=FAULTS)
def test_faults_of_the_data(command, tmp_path, name, content, parts):
    """Field cases 1 and 9."""
    overrides = toy_overrides(tmp_path)
    (tmp_path / name).write_bytes(content)
    ended = command("train.py", *overrides)
    for part in parts:
        assert_one_message(ended, part, tmp_path)
    assert not (tmp_path / "prepared").exists()


@pytest.mark.parametrize("split", ["train", "validation", "first"])
def test_an_empty_split(command, tmp_path, split):
    """Field case 22."""
    overrides = toy_overrides(tmp_path)
    for side in ("en", "de"):
        (tmp_path / f"{split}.{side}").write_bytes(b"")
    ended = command("train.py", *overrides)
    assert_one_message(ended, split, tmp_path)


def test_a_divergence_is_told_in_one_message(command, tmp_path):
    """Field case 55."""
    changes = {"schedule.rate": 1e30, "schedule.warmup_updates": 1}
    ended = command("train.py", *toy_overrides(tmp_path, changes))
    assert ended.code == 1
    assert "Traceback" not in ended.complaints
    assert "schedule.rate" in ended.complaints
    assert " became " in ended.complaints


def test_a_missing_checkpoint(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = command("evaluate.py", "checkpoint=best.ckpt")
    assert_one_message(ended, "best.ckpt: there is no such checkpoint", tmp_path)


def test_a_fault_in_a_process_of_its_own(new_command, tmp_path):
    """Field cases 9 and 139: what a shell sees."""
    overrides = toy_overrides(tmp_path)
    (tmp_path / "validation.en").write_bytes(b"\xe9\n" + 11 * b"x\n")
    ended = new_command("train.py", *overrides, cwd=tmp_path)
    assert_one_message(ended, "validation.en", tmp_path)
    assert ended.complaints.count("\n") == 1


def test_an_interruption_while_data_are_prepared(command, tmp_path, monkeypatch):
    """Field case 88: before there is anything to save."""

    def interrupt(*_arguments, **_settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("latimer.training.ready.prepare", interrupt)
    ended = command("train.py", *toy_overrides(tmp_path))
    assert ended.code == 130
    assert "interrupted" in ended.complaints
    assert ended.complaints.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_the_locale_of_the_machine_does_not_matter(new_command, tmp_path, monkeypatch):
    """Field case 10: files and streams are UTF-8."""
    overrides = toy_overrides(tmp_path)
    for path in tmp_path.glob("*.de"):
        path.write_text(path.read_text("utf-8").replace("e", "é"), encoding="utf-8")
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONUTF8", "0")
    ended = new_command("train.py", *overrides, cwd=tmp_path)
    assert (ended.code, ended.complaints) == (0, "")
    assert "é" in ended.shown
