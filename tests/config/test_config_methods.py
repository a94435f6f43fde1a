"""Each way of decoding has its own keys; an evaluation may choose another one than its run's."""

import pytest

from latimer.config.decoding import (
    DecodingConfig,
    MinimumRiskConfig,
    SamplingConfig,
    stored_decoding,
)
from latimer.errors import LatimerError

OLD_KEYS = {
    "beam_size": 3,
    "length_penalty": 0.6,
    "max_length_factor": 1.5,
    "max_length_offset": 7,
    "min_length": 1,
    "n_best": 1,
    "max_tokens": 2000,
}


@pytest.mark.parametrize(
    ("option", "section"),
    [
        ("beam", DecodingConfig),
        ("greedy", DecodingConfig),
        ("sampling", SamplingConfig),
        ("minimum_risk", MinimumRiskConfig),
    ],
)
def test_a_run_and_an_evaluation_choose_a_method(train_config, evaluation_config, option, section):
    trained = train_config(f"decoding={option}").decoding
    assert type(trained) is section
    changes = evaluation_config("checkpoint=a.ckpt", f"decoding={option}").decoding
    assert changes.applied_to(stored_decoding(OLD_KEYS)) == trained


def test_single_keys_win_over_the_method_s_file(evaluation_config):
    changes = evaluation_config(
        "checkpoint=a.ckpt", "decoding=sampling", "decoding.temperature=1e-1"
    )
    found = changes.decoding.applied_to(stored_decoding(OLD_KEYS))
    assert (found.method, found.temperature, found.samples) == ("sampling", 0.1, 1)
    assert found.max_length_factor == 1.0  # of the file, not of the run


def test_a_run_that_samples_is_evaluated_so_but_for_the_changes(train_config, evaluation_config):
    trained = train_config("decoding=sampling", "decoding.top_k=50").decoding
    changes = evaluation_config("checkpoint=a.ckpt", "decoding.top_p=0.9").decoding
    assert changes.applied_to(trained) == trained.model_copy(update={"top_p": 0.9})


def test_what_both_methods_have_stays_as_trained(train_config, evaluation_config):
    trained = train_config("decoding=sampling", "decoding.max_length_offset=9").decoding
    changes = evaluation_config(
        "checkpoint=a.ckpt", "decoding.method=minimum_risk", "decoding.utility=bleu"
    ).decoding
    found = changes.applied_to(trained)
    assert found == MinimumRiskConfig(
        **{**trained.model_dump(), "method": "minimum_risk", "utility": "bleu"}
    )


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["decoding.top_k=5"], r"^decoding\.top_k=5: not a key of the chosen decoding, which has"),
        (["decoding=sampling", "decoding.beam_size=5"], r"^decoding\.beam_size=5: not a key of"),
        (["decoding=sampling", "decoding.utility=bleu"], r"^decoding\.utility=bleu: not a key of"),
        (
            ["decoding.method=sampling"],
            r"^decoding\.method=sampling: also needs samples, .*, seed; ",
        ),
        (["decoding=sampling", "decoding.n_best=2"], r"^decoding\.n_best=2: not a key of"),
    ],
)
def test_a_key_of_another_method_is_refused(evaluation_config, overrides, message):
    changes = evaluation_config("checkpoint=a.ckpt", *overrides).decoding
    with pytest.raises(LatimerError, match=message):
        changes.applied_to(stored_decoding(OLD_KEYS))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("decoding.samples=0", "decoding.samples=0: must be at least 1"),
        ("decoding.temperature=0", "decoding.temperature=0: must be greater than 0"),
        ("decoding.temperature=inf", "decoding.temperature=inf: must be a finite number"),
        ("decoding.top_k=-1", "decoding.top_k=-1: must be at least 0"),
        ("decoding.top_p=0", "decoding.top_p=0: must be greater than 0"),
        ("decoding.top_p=1.1", "decoding.top_p=1.1: must be at most 1"),
        ("decoding.seed=-1", "decoding.seed=-1: must be at least 0"),
        ("decoding.utility=comet", "decoding.utility=comet: must be chrf or bleu"),
        ("decoding.min_length=-1", "decoding.min_length=-1: must be at least 0"),
        ("decoding.method=nucleus", "decoding.method=nucleus: must be one of beam, sampling"),
        ("decoding.n_best=2", "decoding.n_best=2: not a key of the chosen decoding"),
        ("decoding.length_penalty=1", "decoding.length_penalty=1: not a key of the chosen"),
    ],
)
def test_wrong_values_are_refused_with_what_is_allowed(train_config, override, message):
    with pytest.raises(LatimerError) as error:
        train_config("decoding=minimum_risk", override)
    assert str(error.value).startswith(message)


def test_samples_have_room_too(train_config):
    with pytest.raises(LatimerError, match="max_length_offset=0: must be at least 1 with max_len"):
        train_config(
            "decoding=sampling", "decoding.max_length_factor=0", "decoding.max_length_offset=0"
        )


def test_a_checkpoint_without_a_method_searched_with_beams():
    found = stored_decoding(OLD_KEYS)
    assert found.method == "beam"
    assert found.model_dump().items() >= OLD_KEYS.items()


def test_a_checkpoint_of_an_unknown_method_is_refused_by_name():
    with pytest.raises(LatimerError, match=r"^decoding\.method=nucleus: must be one of beam, samp"):
        stored_decoding({**OLD_KEYS, "method": "nucleus"})
