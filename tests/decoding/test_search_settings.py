"""Wrong settings are refused before anything is loaded, all at once."""

import pytest

from latimer.decoding import SearchSettings, SpecialIds
from latimer.errors import LatimerError


def test_the_defaults_are_the_paper_s():
    settings = SearchSettings()
    assert (settings.beam_size, settings.length_penalty) == (4, 0.6)
    assert (settings.max_length_factor, settings.max_length_offset) == (1.0, 50)


@pytest.mark.parametrize(
    "wrong",
    [
        {"beam_size": 0},
        {"beam_size": 4, "n_best": 5},  # field case 103
        {"n_best": 0},
        {"length_penalty": -0.5},
        {"length_penalty": float("nan")},
        {"length_penalty": "gnmt"},
        {"coverage_penalty": -0.1},
        {"coverage_penalty": float("nan")},
        {"no_repeat_ngram": -1},
        {"beam_size": 4, "beam_groups": 3},
        {"beam_groups": 0},
        {"beam_groups": 2, "diversity_penalty": 0.0},
        {"beam_groups": 1, "diversity_penalty": 0.5},
        {"min_length": -1},
        {"max_length_factor": -1.0},
        {"max_length_offset": -1},
        {"max_length_factor": 0.0, "max_length_offset": 0},
        {"max_length": 0},
        {"max_length": 3, "min_length": 4},
    ],
)
def test_values_out_of_range_are_refused_by_name(wrong):
    with pytest.raises(LatimerError) as caught:
        SearchSettings(**wrong)
    message = str(caught.value)
    for name, value in wrong.items():
        assert name in message
        assert str(value) in message


def test_all_mistakes_come_at_once():
    with pytest.raises(LatimerError) as caught:
        SearchSettings(beam_size=2, n_best=3, length_penalty=-1)
    assert "n_best: 3 is not between 1 and beam_size (2)" in str(caught.value)
    assert "length_penalty: -1 is neither a number of at least 0 nor average" in str(caught.value)


def test_the_special_ids_are_the_tokenizer_s():
    assert SpecialIds() == SpecialIds(pad=0, unk=1, bos=2, eos=3)
    assert SpecialIds().forbidden == (0, 1, 2)
