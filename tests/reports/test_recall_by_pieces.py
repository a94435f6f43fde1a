"""Words stand in the group of as many pieces as they are cut into."""

import pytest

from latimer.reports.rare_words import LABELS, UNKNOWN, find_recall
from latimer.scoring import PartScorer
from latimer.tokenizer import UNK_ID

SCORER = PartScorer(target_language="en", bootstrap=0)
SPACE, PIECE = 4, 5
CUT = {
    "one": [PIECE],
    "two": [PIECE] * 2,
    "three": [PIECE] * 3,
    "four": [PIECE] * 4,
    "nine": [PIECE] * 9,
    "lone": [SPACE, PIECE, PIECE],  # the space is no piece of the word
    "strange": [PIECE, UNK_ID],
}
GROUPS = {
    "1": ["one"],
    "2": ["two", "lone"],
    "3": ["three"],
    "4+": ["four", "nine"],
    UNKNOWN: ["strange"],
}


class ByHand:
    """A tokenizer of words that are listed."""

    def encode_batch(self, words):
        return [CUT[word] for word in words]

    def piece(self, number):
        return {SPACE: "▁", PIECE: "▁x", UNK_ID: "<unk>"}[number]


def test_every_number_of_pieces_has_its_group():
    references = [" ".join(CUT)] * 2
    found = find_recall([[references[0], ""]], references, ByHand(), SCORER)
    assert [recall.label for recall in found] == [*GROUPS] == [*LABELS]
    assert [recall.words for recall in found] == [2 * len(words) for words in GROUPS.values()]
    assert {recall.shares for recall in found} == {(50.0,)}


@pytest.mark.parametrize("word", CUT)
def test_a_word_is_missed_in_its_own_group_alone(word):
    text = " ".join(each for each in CUT if each != word)
    for recall in find_recall([[text]], [" ".join(CUT)], ByHand(), SCORER):
        words = GROUPS[recall.label]
        right = len(words) - words.count(word)
        assert recall.shares == pytest.approx((100 * right / len(words),))
