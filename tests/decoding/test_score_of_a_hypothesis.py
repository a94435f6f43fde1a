"""What hypotheses are ranked by, by hand: the penalties of length and of coverage."""

import math
from types import SimpleNamespace

import pytest
import torch
from stand_in_models import EOS, PAD, A, B, C, noise_model, sources, table_model
from test_beam_search import ANYTHING, LONG_OR_NOTHING, SOURCE, best, text

from latimer.decoding import SearchSettings, beam_search, force_decode
from latimer.decoding.coverage import uncovered
from latimer.decoding.lengths import penalty
from latimer.errors import LatimerError


@pytest.mark.parametrize("beam_size", [2, 3, 4])
def test_the_average_is_the_sum_divided_by_the_pieces_and_eos(beam_size):
    # the empty output has -1.2040 for its only piece, "abc" -1.4267 for four
    model = table_model(LONG_OR_NOTHING, rest=ANYTHING)
    found = best(model, beam_size=beam_size, length_penalty="average", min_length=0)
    assert text(found) == "abc"
    assert found.score == pytest.approx(math.log(0.7), abs=1e-5)
    assert penalty(4, "average") == 4


READS = {
    (): [0.6, 0.3, 0.1],
    (A,): [0.6, 0.1, 0.3],
    (B,): [0.1, 0.8, 0.1],
}
TWO_TEXTS = {"": {"a": 0.6, "b": 0.4}, "a": {"": 1.0}, "b": {"": 1.0}}


def reading_model():
    model = table_model(TWO_TEXTS)
    model.attention = lambda source, prefix: torch.tensor(READS.get(prefix[1:], [1.0, 0.0, 0.0]))
    return model


# "a" reads 1.2 of the first piece and 0.4 of the second, "b" 0.7 and 1.1; eos does not count
@pytest.mark.parametrize(
    ("beta", "expected", "score"),
    [
        (0.0, "a", math.log(0.6)),
        (0.5, "a", math.log(0.6) + 0.5 * math.log(0.4)),
        (1.0, "b", math.log(0.4) + 1.0 * math.log(0.7)),
    ],
)
def test_what_is_left_unread_costs_beta_times_the_logarithm_of_its_share(beta, expected, score):
    found = best(reading_model(), length_penalty=0, coverage_penalty=beta)
    assert text(found) == expected
    assert found.score == pytest.approx(score, abs=1e-5)
    target = [found.ids]
    [again] = force_decode(reading_model(), SOURCE, target, 0, coverage_penalty=beta)
    assert again.score == pytest.approx(score, abs=1e-5)
    assert found.log_probability == pytest.approx(math.log({"a": 0.6, "b": 0.4}[expected]))


def test_padding_is_never_unread():
    wide = torch.nn.functional.pad(SOURCE, (0, 5), value=PAD)
    settings = SearchSettings(coverage_penalty=0.7)
    [[narrow]], [[padded]] = (beam_search(reading_model(), s, settings) for s in (SOURCE, wide))
    assert padded == narrow


def test_targets_of_other_lengths_are_read_no_further():
    model, batch = noise_model(3), sources([4, 4, 4])
    targets = [[A], [A, B, C, A, B, C], []]
    together = force_decode(model, batch, targets, 0.6, coverage_penalty=0.5)
    for row, target, found in zip(batch, targets, together, strict=True):
        [alone] = force_decode(model, row[None], [target], 0.6, coverage_penalty=0.5)
        assert found.score == pytest.approx(alone.score, abs=1e-5)


def test_a_piece_that_is_not_read_at_all_leaves_the_score_finite():
    model = noise_model(1)
    model.attention = lambda source, prefix: torch.eye(len(source))[0]
    found = best(model, coverage_penalty=1.0)
    assert -1e3 < found.score < found.log_probability
    assert uncovered(torch.zeros(1, 1, 2)).isfinite().all()


def test_nobody_asks_for_attention_without_a_coverage_penalty():
    model = noise_model(1)
    model.attention = None
    assert best(model).ids
    with pytest.raises(TypeError):
        best(model, coverage_penalty=0.1)


def test_a_model_that_does_not_tell_its_attention_is_refused():
    whole = noise_model(1)
    model = SimpleNamespace(start=whole.start, step=whole.step)
    assert best(model) == best(whole)
    with pytest.raises(LatimerError, match=r"coverage_penalty=0\.2: .* write coverage_penalty=0"):
        best(model, coverage_penalty=0.2)
    with pytest.raises(LatimerError, match=r"coverage_penalty=0\.2"):
        force_decode(model, SOURCE, [[A]], 0.6, coverage_penalty=0.2)


def test_the_settings_are_told_as_far_as_they_are_not_neutral():
    # field case 93
    assert SearchSettings().described == "beam 4, length penalty 0.6"
    settings = SearchSettings(
        beam_size=6,
        length_penalty="average",
        coverage_penalty=0.2,
        no_repeat_ngram=3,
        beam_groups=2,
        diversity_penalty=0.5,
    )
    assert settings.described == (
        "beam 6, length penalty average, coverage penalty 0.2, no repeated 3-gram, "
        "2 groups 0.5 apart"
    )


def test_a_source_without_pieces_leaves_nothing_unread():
    settings = SearchSettings(coverage_penalty=0.5, max_length_offset=3)
    [[found]] = beam_search(noise_model(2), torch.tensor([[EOS]]), settings)
    length = len(found.ids) + 1
    assert found.score == pytest.approx(found.log_probability / ((5 + length) / 6) ** 0.6)
