"""What is said when a run can't go on, or has ended; and what it takes to go on beyond its end."""

import json
import shutil
import subprocess
import sys

import pytest
import torch
import yaml

from latimer.checkpoint import read_checkpoint
from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.training.run import train
from latimer.training.schedule import learning_rate
from same_runs import assert_same_contents, resume
from toy_trainings import start

QUICKLY = {"validation__bleu_sentences": 2, "validation__attention_sentences": 0}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("ends")


@pytest.fixture(scope="module")
def ended(place):
    """A run of four updates that has come to its end."""
    from toy_trainings import configure

    return start(configure(place, trainer__max_updates=4, **QUICKLY))


@pytest.fixture
def copy(ended, tmp_path):
    """A copy of it, to do harm to."""
    return shutil.copytree(ended.folder, tmp_path / "run")


def going_on(run_folder, config, **changes):
    return config.model_copy(update={"resume": str(run_folder), **changes})


def limits(config, **changes):
    return config.trainer.model_copy(update={"max_updates": None, "max_epochs": None, **changes})


def refusal(config):
    with pytest.raises(LatimerError) as refused:
        train(config, Screen())
    return str(refused.value)


def everything_in(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_finished_run_says_so(ended, copy):
    """Field case 75: and nothing is touched."""
    before = everything_in(copy)
    said = refusal(going_on(copy, ended.config))
    assert said == (
        f"resume={copy}: it is at update 4 and trainer.max_updates is 4: nothing to do; "
        "raise trainer.max_updates"
    )
    trainer = limits(ended.config, max_time="00:00:01")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latimer.training.saved_state.SavedState.seconds", 65.0)
        said = refusal(going_on(copy, ended.config, trainer=trainer))
    assert "it is at 0:01:05 of training and trainer.max_time is 00:00:01: nothing to do" in said
    validation = ended.config.validation.model_copy(update={"patience": 1})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latimer.training.saved_state.SavedState.validations_since_best", 1)
        said = refusal(
            going_on(
                copy,
                ended.config,
                trainer=limits(ended.config, max_updates=9),
                validation=validation,
            )
        )
    assert "1 validations since the best one and validation.patience is 1" in said
    assert everything_in(copy) == before


@pytest.mark.slow
def test_whole_epochs_that_are_done_are_said_in_epochs(place, run, make_config):
    config = make_config(trainer__max_updates=None, trainer__max_epochs=1, **QUICKLY)
    done = start(config)
    updates = done.checkpoints["last"]["latimer"]["updates"]
    said = refusal(going_on(done.folder, config))
    assert f"at update {updates} after 1 epochs and trainer.max_epochs is 1: nothing to do" in said


def test_a_finished_run_goes_on_to_a_greater_limit(ended, copy, make_config):
    """And writes its scores again, beside those of its first end."""
    whole = start(make_config(trainer__max_updates=6, **QUICKLY))
    first = (copy / "evaluation" / "first" / "result.json").read_bytes()
    run = resume(copy, ended.config, trainer=limits(ended.config, max_updates=6))
    for name in ("last", "step_0000004", "step_0000006", "averaged"):
        assert_same_contents(run.checkpoints[name], whole.checkpoints[name], name)
    assert (copy / "evaluation" / "first" / "result.json").read_bytes() == first
    again = json.loads((copy / "evaluation" / "first-2" / "result.json").read_text("utf-8"))
    assert again["updates"] > 4
    assert "6 updates" in (copy / "run.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_run_that_goes_on_is_not_finished_any_more(ended, copy, monkeypatch):
    """Killed in its second evaluation, it has that left to do, whatever the first end has left."""
    longer = limits(ended.config, max_updates=6)
    with monkeypatch.context() as patch:
        patch.setattr("latimer.training.run.load_model", kill)
        with pytest.raises(Killed):
            resume(copy, ended.config, trainer=longer)
    assert not (copy / "run.md").exists()
    resume(copy, ended.config, trainer=longer)
    assert "6 updates" in (copy / "run.md").read_text(encoding="utf-8")


class Killed(BaseException):
    """Nobody catches it."""


def kill(*_arguments, **_settings):
    raise Killed


@pytest.mark.slow
def test_what_a_killed_evaluation_left_is_no_result(ended, copy):
    (copy / "run.md").unlink()
    (copy / "evaluation" / "first" / "result.json").unlink()
    resume(copy, ended.config)
    assert [path.name for path in (copy / "evaluation").iterdir()] == ["first"]
    assert (copy / "evaluation" / "first" / "result.json").exists()


@pytest.mark.slow
def test_a_smaller_limit_ends_a_run_where_it_is(ended, copy):
    (copy / "run.md").unlink()
    run = resume(copy, ended.config, trainer=limits(ended.config, max_updates=2))
    assert run.checkpoints["last"]["latimer"]["updates"] == 4
    assert (copy / "run.md").exists()


def test_the_folder_tells_that_and_when_a_run_went_on(ended, copy):
    first = json.loads((copy / "environment.json").read_text(encoding="utf-8"))
    log = (copy / "train.log").read_text(encoding="utf-8")
    resume(copy, ended.config, trainer=limits(ended.config, max_updates=5))
    now = json.loads((copy / "environment.json").read_text(encoding="utf-8"))
    assert {**now, "resumed": None} == {**first, "resumed": None}
    assert [again["after_update"] for again in now["resumed"]] == [4]
    assert now["resumed"][0]["packages"] == first["packages"]
    text = (copy / "train.log").read_text(encoding="utf-8")
    assert text.startswith(log)
    assert f"goes on      after update 4, from {copy}/checkpoints/last.ckpt\n" in text
    settings = yaml.safe_load((copy / "config.yaml").read_text(encoding="utf-8"))
    assert (settings["trainer"]["max_updates"], settings["resume"]) == (5, None)


@pytest.mark.slow
def test_the_time_of_training_adds_up(ended, copy, monkeypatch):
    """No page of a run may tell the time since its last stop alone."""
    state = copy / "checkpoints" / "last.ckpt"
    before = read_checkpoint(state)["callbacks"]["Stopwatch"]["time_elapsed"]["train"]
    run = resume(copy, ended.config, trainer=limits(ended.config, max_updates=5))
    after = run.checkpoints["last"]["callbacks"]["Stopwatch"]["time_elapsed"]["train"]
    assert after > before > 0


@pytest.mark.slow
def test_a_run_whose_time_is_up_is_validated_where_it_stands(ended, copy):
    """A state without scores, at an update at which none is due, and no time left."""
    (copy / "run.md").unlink()
    config = ended.config.model_copy(
        update={"validation": ended.config.validation.model_copy(update={"every_updates": 100})}
    )
    for name in ("last.ckpt", "best.ckpt"):
        (copy / "checkpoints" / name).unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latimer.training.ending.Stopwatch.time_elapsed", lambda *_arguments: 1000.0)
        run = resume(copy, config, trainer=limits(config, max_time="00:00:01"))
    assert run.checkpoints["last"]["latimer"]["updates"] == 4
    assert run.checkpoints["best"]["latimer"]["scores"]["val/nll"] > 0


ADAM = {"kind": "adam", "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-9}
ADAMW = {**ADAM, "kind": "adamw", "weight_decay": 0.1}
LINEAR = {
    "kind": "linear", "warmup_updates": 2, "rate": 0.01, "decay_updates": 8, "final_rate": 0.0
}  # fmt: skip


def moments(run, name="last"):
    return run.checkpoints[name]["optimizer_states"][0]


def reset(copy, ended, sections, **changed):
    """Six updates in all, of which the last two come after the reset."""
    from latimer.config.check import check
    from latimer.config.run import RunConfig

    settings = {**ended.config.model_dump(mode="json"), **changed}
    config = check({**settings, "resume": str(copy), "resume_reset": sections}, RunConfig)
    trainer = config.trainer.model_copy(update={"max_updates": 6, "log_every_updates": 1})
    return start(config.model_copy(update={"trainer": trainer}))


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", [ADAM, ADAMW])
def test_the_optimizer_is_forgotten_on_purpose(ended, copy, optimizer):
    """Field case 74: the schedule goes on."""
    run = reset(copy, ended, ["optimizer"], optimizer=optimizer)
    assert {int(state["step"]) for state in moments(run)["state"].values()} == {2}
    assert moments(run)["param_groups"][0]["betas"] == (0.8, 0.9)
    for update in (5, 6):
        expected = learning_rate(ended.config.schedule, update, 16)
        assert run.curve("train/learning_rate")[update] == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_the_schedule_starts_again_on_purpose(ended, copy):
    """Field case 74: the running means go on."""
    run = reset(copy, ended, ["schedule"], schedule=LINEAR)
    assert {int(state["step"]) for state in moments(run)["state"].values()} == {6}
    rates = [run.curve("train/learning_rate")[update] for update in (5, 6)]
    assert rates == pytest.approx([0.005, 0.01], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("killed_after", ["nothing", "the reset"])
def test_a_reset_is_done_once_wherever_the_run_is_killed(ended, copy, monkeypatch, killed_after):
    if killed_after == "nothing":
        monkeypatch.setattr("latimer.training.run.make_loaders", second_call_of(kill))
    else:
        monkeypatch.setattr("latimer.training.going_on.counters.validate_now", kill)
        monkeypatch.setattr("latimer.training.task.TranslationTask.training_step", kill)
    with pytest.raises(Killed):
        reset(copy, ended, ["schedule"])
    monkeypatch.undo()
    settings = yaml.safe_load((copy / "config.yaml").read_text(encoding="utf-8"))
    pending = killed_after == "nothing"
    assert settings["resume_reset"] == (["schedule"] if pending else [])
    # Saved anew, it is still the state that its scores were earned by.
    assert read_checkpoint(copy / "checkpoints" / "last.ckpt")["latimer"]["scores"]
    run = reset(copy, ended, settings["resume_reset"])
    expected = [learning_rate(ended.config.schedule, number, 16) for number in (1, 2)]
    rates = [run.curve("train/learning_rate")[update] for update in (5, 6)]
    assert rates == pytest.approx(expected, rel=1e-6)


def second_call_of(action):
    from latimer.training.trainer import make_loaders

    calls = []

    def call(*arguments):
        calls.append(arguments)
        return action() if len(calls) > 1 else make_loaders(*arguments)

    return call


def damage(path):
    """Changes one byte of a weight: the file can still be read."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()  # it may have other names
    path.write_bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize("harm", [damage, lambda path: path.write_bytes(path.read_bytes()[:5000])])
def test_a_damaged_state_is_passed_over_for_the_next_older_one(ended, copy, harm, make_config):
    """Field case 89."""
    whole = start(make_config(trainer__max_updates=6, **QUICKLY))
    checkpoints = copy / "checkpoints"
    (checkpoints / "best.ckpt").unlink()
    for name in ("last.ckpt", "step_0000004.ckpt"):
        harm(checkpoints / name)
    run = resume(copy, ended.config, trainer=limits(ended.config, max_updates=6))
    for name in ("last.ckpt", "step_0000004.ckpt"):
        warning = f"warning: {checkpoints / name}: this checkpoint is damaged, and now called"
        assert warning in run.shown
    assert "goes on      after update 2, from " in run.shown
    samples = sorted(path.name for path in (copy / "samples").iterdir())
    assert samples == ["update_0000003.txt", "update_0000006.txt"]
    assert_same_contents(run.checkpoints["last"], whole.checkpoints["last"], "last")


def test_a_run_without_a_state_says_what_to_do(ended, copy):
    shutil.rmtree(copy / "checkpoints")
    said = refusal(going_on(copy, ended.config))
    assert said.startswith(f"resume={copy}: it was stopped before its first state was saved; ")
    assert f"run_folder={copy} mode=overwrite" in said


def test_a_state_of_a_version_that_could_not_resume(ended, copy):
    for path in (copy / "checkpoints").glob("*.ckpt"):
        contents = read_checkpoint(path)
        contents["latimer"].pop("random_states", None)
        path.unlink()
        torch.save(contents, path)
    said = refusal(going_on(copy, ended.config))
    assert "no state of it can be read" in said
    assert "init_from=" in said


def test_other_data_are_refused_by_name(ended, copy, tmp_path):
    text = (tmp_path / "validation.en", tmp_path / "validation.de")
    for path in text:
        path.write_text("red boat\nblue door\n", encoding="utf-8")
    data = ended.config.data.model_dump()
    data["validation"] = {"source": str(text[0]), "target": str(text[1])}
    other = type(ended.config.data).model_validate(data)
    said = refusal(going_on(copy, ended.config, data=other))
    assert "the data are not those that it began with: the validation split has other pairs" in said
    assert "init_from=" in said


def test_data_that_were_only_moved_are_the_same(ended, copy, tmp_path):
    data = ended.config.data.model_dump()
    for side in ("source", "target"):
        data["train"][side] = str(shutil.copy(data["train"][side], tmp_path))
    moved = type(ended.config.data).model_validate(data)
    said = refusal(going_on(copy, ended.config, data=moved))
    assert "nothing to do" in said


@pytest.mark.parametrize("changes", [{"vocab_size": 80}, {"normalization": "nfkc_cf"}])
def test_another_tokenizer_is_refused(ended, copy, changes):
    """Of another size, or of the same (field case 85)."""
    assert ended.config.tokenizer.model_copy(update=changes) != ended.config.tokenizer
    tokenizer = ended.config.tokenizer.model_copy(update=changes)
    said = refusal(going_on(copy, ended.config, tokenizer=tokenizer))
    assert "the tokenizer is not the one that it has" in said


def test_another_precision_is_refused(ended, copy):
    """A machine of another kind may choose another one by itself."""
    trainer = limits(ended.config, max_updates=9, precision="bf16-mixed")
    said = refusal(going_on(copy, ended.config, trainer=trainer))
    assert "computed in float32, and here it would go on in bf16-mixed" in said
    assert "write trainer.precision=float32" in said


AVERAGE = {"ema": {"_target_": "pytorch_lightning.callbacks.EMAWeightAveraging", "decay": 0.9}}


def test_an_average_of_the_weights_is_no_afterthought(ended, copy):
    trainer = limits(ended.config, max_updates=9)
    said = refusal(going_on(copy, ended.config, trainer=trainer, callbacks=AVERAGE))
    assert "callbacks: the run began without an average of its weights" in said


@pytest.mark.slow
def test_an_average_of_the_weights_is_not_lost(make_config, tmp_path):
    """The trained weights would be replaced by it in silence."""
    first = start(make_config(trainer__max_updates=2, callbacks=AVERAGE, **QUICKLY))
    trainer = limits(first.config, max_updates=3)
    said = refusal(going_on(first.folder, first.config, trainer=trainer, callbacks={}))
    assert "callbacks: the run began with an average of its weights" in said


HOLD = """
import sys
from pathlib import Path
from latimer.training.run_folder import sole_writer
with sole_writer(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(copy):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, copy], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()


def test_two_processes_never_write_to_one_run(ended, copy, holder):
    """Field case 121; and a killed process keeps nobody off."""
    said = f"{copy}: another process is training in this folder; wait for its end, or stop it"
    assert refusal(going_on(copy, ended.config)) == said
    overwrite = {"run_folder": str(copy), "mode": "overwrite"}
    assert refusal(ended.config.model_copy(update=overwrite)) == said
    assert (copy / "run.md").exists()
    holder.kill()
    holder.wait()
    assert "nothing to do" in refusal(going_on(copy, ended.config))
    assert not (copy / ".lock").exists()


@pytest.mark.slow
def test_the_page_of_a_run_tells_all_that_was_typed(ended, copy):
    resume(copy, ended.config, trainer=limits(ended.config, max_updates=5))
    page = (copy / "run.md").read_text(encoding="utf-8")
    commands = page.partition("```bash\n")[2].partition("\n```")[0].split("\n")
    assert [command.partition("  # ")[2] for command in commands] == ["", "after update 4"]
    assert page.count("CPU with ") == page.count(", revision ") == 1


@pytest.mark.slow
def test_other_hardware_is_told(ended, copy):
    path = copy / "environment.json"
    text = path.read_text(encoding="utf-8").replace("1 threads", "7 threads")
    path.write_text(text, encoding="utf-8")
    run = resume(copy, ended.config, trainer=limits(ended.config, max_updates=5))
    assert "note: it began on CPU with 7 threads, float32 (as configured); elsewhere," in run.shown
    page = (copy / "run.md").read_text(encoding="utf-8")
    hardware = json.loads(path.read_text(encoding="utf-8"))["resumed"][0]["hardware"]
    assert f" on CPU with 7 threads, float32 (as configured), then on {hardware}.\n" in page
