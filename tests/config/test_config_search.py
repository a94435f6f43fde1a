"""The keys of the beam search: what goes together, and what a checkpoint older than a key meant."""

from dataclasses import asdict

import pytest

from latimer.config.decoding import DecodingConfig, stored_decoding
from latimer.decoding import SearchSettings
from latimer.errors import LatimerError
from latimer.translation import stored_search

BEFORE = {
    "beam_size": 3,
    "length_penalty": 1.0,
    "max_length_factor": 1.0,
    "max_length_offset": 4,
    "min_length": 1,
    "n_best": 2,
    "max_tokens": 2000,
}
"""What a run stored before there were more keys."""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["length_penalty=-1"], "length_penalty=-1: must be a number of at least 0, or average"),
        (
            ["length_penalty=gnmt"],
            "length_penalty=gnmt: must be a number of at least 0, or average",
        ),
        (
            ["length_penalty=true"],
            "length_penalty=true: must be a number of at least 0, or average",
        ),
        (
            ["length_penalty=null"],
            "length_penalty=null: must be a number of at least 0, or average",
        ),
        (["coverage_penalty=-0.1"], "coverage_penalty=-0.1: must be at least 0"),
        (["no_repeat_ngram=-1"], "no_repeat_ngram=-1: must be at least 0"),
        (["no_repeat_ngram=2.5"], "no_repeat_ngram=2.5: must be a whole number"),
        (["beam_groups=0"], "beam_groups=0: must be at least 1"),
        (["beam_groups=3", "diversity_penalty=1"], "beam_groups=3: must divide beam_size=4"),
        (["beam_groups=2"], "diversity_penalty=0.0: must be greater than 0 with beam_groups=2"),
        (["diversity_penalty=0.5"], "diversity_penalty=0.5: must be 0 with beam_groups=1"),
    ],
)
def test_mistakes_are_told_once_with_what_is_allowed(train_config, changes, message):
    with pytest.raises(LatimerError) as error:
        train_config(*(f"decoding.{change}" for change in changes))
    assert str(error.value) == f"decoding.{message}"


@pytest.mark.parametrize(
    ("written", "found"), [("average", "average"), ("1", 1.0), ("0", 0.0), ("0.6", 0.6)]
)
def test_the_length_penalty_is_a_number_or_average(train_config, evaluation_config, written, found):
    trained = train_config(f"decoding.length_penalty={written}").decoding
    assert trained.length_penalty == found
    changes = evaluation_config("checkpoint=a.ckpt", f"decoding.length_penalty={written}").decoding
    assert changes.applied_to(train_config().decoding) == trained


def test_groups_of_the_beam_can_be_asked_for_when_a_checkpoint_is_evaluated(evaluation_config):
    changes = evaluation_config(
        "checkpoint=a.ckpt",
        "decoding.beam_size=6",
        "decoding.beam_groups=3",
        "decoding.diversity_penalty=0.5",
        "decoding.coverage_penalty=0.2",
        "decoding.no_repeat_ngram=3",
    )
    changed = changes.decoding.applied_to(stored_decoding(BEFORE))
    assert isinstance(changed, DecodingConfig)
    assert (changed.beam_size, changed.beam_groups, changed.diversity_penalty) == (6, 3, 0.5)
    assert (changed.coverage_penalty, changed.no_repeat_ngram) == (0.2, 3)
    with pytest.raises(LatimerError, match=r"decoding\.beam_groups=2: must divide beam_size=3"):
        evaluation_config("checkpoint=a.ckpt", "decoding.beam_groups=2").decoding.applied_to(
            stored_decoding(BEFORE)
        )


def test_what_a_checkpoint_does_not_know_is_off():
    completed = stored_decoding(BEFORE).model_dump()
    neutral = {"coverage_penalty": 0, "no_repeat_ngram": 0, "beam_groups": 1}
    assert completed == {**BEFORE, **neutral, "diversity_penalty": 0, "method": "beam"}
    searched = stored_search({"decoding": BEFORE})
    assert isinstance(searched, SearchSettings)
    assert stored_search({"decoding": completed}) == searched
    assert {**asdict(searched), **completed} == {
        **asdict(searched),
        "max_tokens": 2000,
        "method": "beam",
    }
