import pytest

from latimer.decoding import SamplingSettings, SearchSettings
from latimer.translation import MinimumRiskSettings, Translator
from latimer.translation.batches import SHORTEST, batches_by_length


def test_every_sentence_once_longest_first_within_the_budget():
    lengths = [30, 0, 90, 10, 30, 0, 40, 90, 20]
    batches = list(batches_by_length(lengths, beams=2, max_tokens=400))
    assert sorted(row for rows in batches for row in rows) == [0, 2, 3, 4, 6, 7, 8]
    assert batches[0] == [2, 7]
    for rows in batches:
        assert len(rows) * (max(lengths[row] for row in rows) + 1) * 2 <= 400


def test_more_beams_make_smaller_batches():  # field case 151
    lengths = [40] * 24
    assert len(list(batches_by_length(lengths, beams=1, max_tokens=600))) == 2
    assert len(list(batches_by_length(lengths, beams=4, max_tokens=600))) == 8


@pytest.mark.parametrize("length", [1, 4, SHORTEST - 1])
def test_words_alone_make_no_larger_batches_than_short_sentences(length):
    """Field case 151: what is followed of them may become long."""
    batches = list(batches_by_length([length] * 2000, beams=4, max_tokens=16384))
    assert max(map(len, batches)) == 16384 // (4 * SHORTEST) == 256


def test_a_sentence_beyond_the_budget_stands_alone():
    assert list(batches_by_length([99, 99, 1], beams=4, max_tokens=8)) == [[0], [1], [2]]


def test_nothing_to_translate():
    assert list(batches_by_length([0, 0], beams=4, max_tokens=8)) == []


@pytest.mark.parametrize(
    ("settings", "width"),
    [
        (SamplingSettings(samples=8, max_length_offset=2), 8),
        (MinimumRiskSettings(samples=8, max_length_offset=2), 8),
        (SearchSettings(beam_size=8, max_length_offset=2), 8),
        (SearchSettings(beam_size=1, max_length_offset=2), 1),
    ],
    ids=["sampling", "minimum_risk", "beam", "greedy"],
)
def test_a_batch_holds_all_that_is_followed_of_its_sentences(
    make_model, tiny_tokenizers, make_sentences, monkeypatch, settings, width
):
    """Cells of a batch: sentences x longest source x beams or samples (field case 151)."""
    model, cells, budget = make_model(), [], 100 * width
    start = model.start

    def watched(source):
        cells.append(len(source) * max(source.shape[1], SHORTEST) * width)
        return start(source)

    monkeypatch.setattr(model, "start", watched)
    translator = Translator(model, tiny_tokenizers, settings, max_tokens=budget)
    translator.translate(make_sentences(30, 3))
    assert len(cells) > 1
    assert max(cells) <= budget
    # Without that it would be a budget of something else: eight times as much, or an eighth.
    assert max(cells) > budget / 2
