import pickle

import numpy as np
import pytest
import torch

from latimer.data.encoded import EncodedPairs
from latimer.errors import LatimerError

SOURCES = [[4, 5], [6], [], [10, 11, 12, 13]]
TARGETS = [[7, 8, 9], [14, 15], [16], [17]]


@pytest.fixture
def pairs() -> EncodedPairs:
    return EncodedPairs.from_ids(SOURCES, TARGETS)


@pytest.fixture
def mapped(pairs: EncodedPairs, tmp_path) -> EncodedPairs:
    pairs.write(tmp_path / "pairs.arrow")
    return EncodedPairs.open(tmp_path / "pairs.arrow")


def test_the_decoder_is_fed_the_labels_moved_by_one(pairs: EncodedPairs):  # field case 50
    batch = pairs.collate([0])
    assert batch.source.tolist() == [[4, 5, 3]]
    assert batch.target_input.tolist() == [[2, 7, 8, 9]]
    assert batch.labels.tolist() == [[7, 8, 9, 3]]


def test_rows_are_padded_on_the_right_in_the_order_asked_for(pairs: EncodedPairs):
    batch = pairs.collate([3, 0, 2, 1])
    assert batch.rows.tolist() == [3, 0, 2, 1]
    assert batch.source.tolist() == [
        [10, 11, 12, 13, 3],
        [4, 5, 3, 0, 0],
        [3, 0, 0, 0, 0],
        [6, 3, 0, 0, 0],
    ]
    assert batch.labels.tolist() == [[17, 3, 0, 0], [7, 8, 9, 3], [16, 3, 0, 0], [14, 15, 3, 0]]
    assert batch.target_input.tolist() == [
        [2, 17, 0, 0],
        [2, 7, 8, 9],
        [2, 16, 0, 0],
        [2, 14, 15, 0],
    ]
    assert all(tensor.dtype == torch.long for tensor in batch)


def test_an_item_is_the_batches_of_an_update(pairs: EncodedPairs):
    first, second = pairs[[[0, 1], [3]]]
    assert (first.rows.tolist(), second.rows.tolist()) == ([0, 1], [3])
    assert torch.equal(second.source, pairs.collate([3]).source)


def test_lengths_leave_out_special_ids(pairs: EncodedPairs):
    assert len(pairs) == 4
    assert pairs.source_lengths.tolist() == [2, 1, 0, 4]
    assert pairs.target_lengths.tolist() == [3, 2, 1, 1]


def test_written_and_mapped(pairs: EncodedPairs, mapped: EncodedPairs):
    for batch, same in zip(pairs.collate([2, 0, 3]), mapped.collate([2, 0, 3]), strict=True):
        assert torch.equal(batch, same)
    assert not mapped.source.ids.flags.owndata


def test_a_worker_maps_the_file_and_gets_no_copy(tmp_path):
    pairs = EncodedPairs.from_ids([[5] * 10_000], [[6] * 10_000])
    pairs.write(tmp_path / "pairs.arrow")
    sent = pickle.dumps(EncodedPairs.open(tmp_path / "pairs.arrow"))
    assert len(sent) < 1_000
    assert np.array_equal(pickle.loads(sent).source.ids, pairs.source.ids)


def test_pickled_without_a_file(pairs: EncodedPairs):
    assert pickle.loads(pickle.dumps(pairs)).target.ids.tolist() == pairs.target.ids.tolist()


def test_select(pairs: EncodedPairs):
    chosen = pairs.select(np.array([3, 1]))
    assert chosen.source_lengths.tolist() == [4, 1]
    assert chosen.collate([1]).labels.tolist() == [[14, 15, 3]]


def test_a_selection_can_be_written(pairs: EncodedPairs, tmp_path):
    pairs.select(np.array([1, 2])).write(tmp_path / "some.arrow")
    assert EncodedPairs.open(tmp_path / "some.arrow").collate([0]).source.tolist() == [[6, 3]]


def test_ids_beyond_the_vocabulary_of_their_side(mapped: EncodedPairs):  # field case 53
    mapped.check_ids(source_vocab_size=14, target_vocab_size=18)
    with pytest.raises(LatimerError, match=r"pairs\.arrow holds the id 13.* only 13 pieces"):
        mapped.check_ids(source_vocab_size=13, target_vocab_size=18)
    with pytest.raises(LatimerError, match=r"pairs\.arrow holds the id 17.* only 17 pieces"):
        mapped.check_ids(source_vocab_size=18, target_vocab_size=17)
