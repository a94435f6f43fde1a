"""Every option of the search, alone and together."""

import pytest

from latimer.decoding import SearchSettings

SHORT = {"max_length_factor": 0.5, "max_length_offset": 3}
OPTIONS = {
    "paper": {},
    "greedy": {"beam_size": 1},
    "plain log-probability": {"length_penalty": 0.0},
    "average": {"length_penalty": "average"},
    "coverage": {"coverage_penalty": 0.4},
    "no bigram twice": {"no_repeat_ngram": 2},
    "no piece twice": {"no_repeat_ngram": 1, "min_length": 3},
    "groups": {"beam_size": 6, "beam_groups": 3, "diversity_penalty": 0.7},
    "greedy groups": {"beam_size": 3, "beam_groups": 3, "diversity_penalty": 2.0},
    "groups without pieces left": {
        "beam_size": 6,
        "beam_groups": 2,
        "diversity_penalty": 0.7,
        "no_repeat_ngram": 1,
    },
    "lengths": {"min_length": 4, "max_length": 5},
    "n-best": {"beam_size": 5, "n_best": 5},
    "together": {
        "beam_size": 6,
        "length_penalty": "average",
        "coverage_penalty": 0.3,
        "no_repeat_ngram": 2,
        "beam_groups": 2,
        "diversity_penalty": 0.5,
        "min_length": 2,
        "n_best": 3,
    },
}


def with_options(*names):
    """Runs a test with the settings of these names."""
    settings = [SearchSettings(**{**SHORT, **OPTIONS[name]}) for name in names]
    return pytest.mark.parametrize("settings", settings, ids=names)


every_option = with_options(*OPTIONS)
main_options = with_options("paper", "greedy", "coverage", "groups", "together")
