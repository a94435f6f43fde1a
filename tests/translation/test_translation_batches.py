import pytest

from latimer.decoding import SamplingSettings, SearchSettings
from latimer.translation import MinimumRiskSettings, Translator
from latimer.translation.batches import batches_by_length


def test_every_sentence_once_longest_first_within_the_budget():
    lengths = [3, 0, 9, 1, 3, 0, 4, 9, 2]
    batches = list(batches_by_length(lengths, beams=2, max_tokens=40))
    assert sorted(row for rows in batches for row in rows) == [0, 2, 3, 4, 6, 7, 8]
    assert batches[0] == [2, 7]
    for rows in batches:
        assert len(rows) * (max(lengths[row] for row in rows) + 1) * 2 <= 40


def test_more_beams_make_smaller_batches():  # field case 151
    lengths = [4] * 24
    assert len(list(batches_by_length(lengths, beams=1, max_tokens=60))) == 2
    assert len(list(batches_by_length(lengths, beams=4, max_tokens=60))) == 8


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
    model, cells, budget = make_model(), [], 400
    start = model.start

    def watched(source):
        cells.append(source.numel() * width)
        return start(source)

    monkeypatch.setattr(model, "start", watched)
    translator = Translator(model, tiny_tokenizers, settings, max_tokens=budget)
    translator.translate(make_sentences(30, 3))
    assert len(cells) > 1
    assert max(cells) <= budget
    # Without that it would be a budget of something else: eight times as much, or an eighth.
    assert max(cells) > budget / 2
