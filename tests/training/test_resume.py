"""A run that was killed goes on as if nothing had been: the same weights, files and curves."""

import os
import shutil

import pytest

from same_runs import assert_same_run, resume
from toy_trainings import configure, start

EVERYTHING_ON = {
    "model__dropout": 0.2,
    "tokenizer__bpe_dropout": 0.1,
    "batches__max_tokens": 88,
    "batches__accumulation": 4,
    "trainer__max_updates": 9,
    "trainer__log_every_updates": 3,
    "validation__every_updates": 5,
    "validation__bleu_sentences": 3,
    "validation__attention_sentences": 0,
    "checkpoints__every_updates": 1,
    "checkpoints__newest": 3,
    "checkpoints__best": 2,
}
"""Epochs of five updates, the last one of which is smaller; the run ends in the second epoch."""


QUICK = ("05_unvalidated", "09_unvalidated")
SLOW = (
    *("03_after", "04_unsaved", "04_after", "05_unsaved", "05_scored", "05_after"),
    *("06_unsaved", "06_after", "07_after", "09_unsaved", "09_scored"),
    *("09_ended", "09_averaging", "09_averaged"),
    *("writing_02", "writing_08", "writing_10", "writing_11", "writing_20", "writing_22"),
)


@pytest.fixture(scope="session")
def resumable(tmp_path_factory):
    """A run that wasn't stopped, and copies of its folder at all moments at which it could be."""
    place = tmp_path_factory.mktemp("resumable")
    snapshots, run_folder = place / "snapshots", place / "whole"
    arguments = {"folder": str(snapshots), "run_folder": str(run_folder)}
    config = configure(
        place,
        run_folder=str(run_folder),
        callbacks={"snapshots": {"_target_": "watchers.Snapshots", **arguments}},
        **EVERYTHING_ON,
    )
    synchronise, number = os.fsync, iter(range(1000))

    def copy_first(descriptor):
        shutil.copytree(run_folder, snapshots / f"writing_{next(number):02}")
        synchronise(descriptor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latimer.checkpoint.file.os.fsync", copy_first)
        return start(config), snapshots


@pytest.mark.parametrize(
    "moment", [*QUICK, *(pytest.param(moment, marks=pytest.mark.slow) for moment in SLOW)]
)
def test_a_killed_run_goes_on_as_if_nothing_had_been(resumable, moment):
    """Field cases 71 to 73, 78, 79, 81, 89, 120 and 121."""
    whole, snapshots = resumable
    if moment.startswith("writing"):
        shorten(snapshots / moment)
    run = resume(snapshots / moment, whole.config, callbacks={})
    assert_same_run(run, whole)
    if moment.startswith("writing"):
        assert "\nhalf a li\n" in (run.folder / "train.log").read_text(encoding="utf-8")


def shorten(run_folder):
    """A file that was about to get its name is only half there; and so are other files."""
    (run_folder / ".data.json.part").write_text('{"key":', encoding="utf-8")
    for unfinished in run_folder.rglob(".*.part"):
        os.truncate(unfinished, unfinished.stat().st_size // 2)
    with (run_folder / "train.log").open("a", encoding="utf-8") as log:
        log.write("half a li")
