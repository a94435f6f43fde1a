"""Words of the references that are found, counted by hand."""

import pytest

from latimer.reports.rare_words import LABELS, UNKNOWN, find_recall
from latimer.scoring import PartScorer

SCORER = PartScorer(target_language="en", bootstrap=200)


def pieces_of(word, tokenizer):
    return [piece for piece in map(tokenizer.piece, tokenizer.encode(word)) if piece != "▁"]


def test_counts_are_clipped_line_by_line(tiny_tokenizer):
    assert len(pieces_of("the", tiny_tokenizer)) == 1
    references = ["the boat the, sea!", "the"]
    systems = [["the the the", ""], ["the sea sea", "boat the"], ["", ""]]
    found = find_recall(systems, references, tiny_tokenizer, SCORER)
    words = [w for line in references for w in line.replace(",", "").replace("!", "").split()]
    assert sum(recall.words for recall in found) == len(words) == 5
    kinds = {w: LABELS[min(len(pieces_of(w, tiny_tokenizer)), 4) - 1] for w in words}
    right = [{"the": 2}, {"the": 2, "sea": 1}, {}]
    for recall in found:
        own = [w for w in words if kinds[w] == recall.label]
        assert recall.words == len(own)
        hits = [sum(n for w, n in r.items() if kinds[w] == recall.label) for r in right]
        assert recall.shares == pytest.approx([100 * hit / len(own) for hit in hits])
        assert recall.intervals == (None, None, None), "five words are few"


def test_a_word_with_unknown_characters_is_a_kind_of_its_own(tiny_tokenizer):
    [recall] = find_recall([["Ж"]], ["Ж 🙂 — !"], tiny_tokenizer, SCORER)
    assert (recall.label, recall.words, recall.shares) == (UNKNOWN, 1, (100.0,))


def test_case_follows_the_scores(tiny_tokenizer):
    blind = PartScorer(target_language="en", lowercase=True, bootstrap=0)
    assert find_recall([["THE"]], ["the"], tiny_tokenizer, blind)[0].shares == (100.0,)
    assert find_recall([["THE"]], ["the"], tiny_tokenizer, SCORER)[0].shares == (0.0,)


def test_an_interval_holds_its_share(tiny_tokenizer, make_sentences):
    references, other = make_sentences(60, 1), make_sentences(60, 2)
    found = find_recall([references, other], references, tiny_tokenizer, SCORER)
    common = max(found, key=lambda recall: recall.words)
    assert common.shares[0] == 100.0
    assert common.intervals[0] == (100.0, 100.0)
    low, high = common.intervals[1]
    assert low < common.shares[1] < high
    assert find_recall([references, other], references, tiny_tokenizer, SCORER) == found
    without = PartScorer(target_language="en", bootstrap=0)
    bare = find_recall([other], references, tiny_tokenizer, without)
    assert {recall.intervals for recall in bare} == {(None,)}


@pytest.mark.parametrize("references", [[""], [" ", "…"]], ids=["blank", "dots"])
def test_without_words_there_is_nothing_to_find(tiny_tokenizer, references):
    assert find_recall([["the"] * len(references)], references, tiny_tokenizer, SCORER) == []
