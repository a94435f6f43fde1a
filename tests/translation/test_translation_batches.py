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
