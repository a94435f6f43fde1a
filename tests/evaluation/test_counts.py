"""Lines that are counted beside the scores: loops, unknown characters, marks."""

import pytest

from latimer.decoding import Hypothesis
from latimer.evaluation.counts import count_lines, count_unknown, repeats_itself
from latimer.translation import Translation

REPEATING = {
    "a word": "he went to the the the house",
    "case and punctuation do not count": "No, no, no!",
    "two words": "of the of the of the sea",
    "four words": "in the old boat, in the old boat, in the old boat.",
    "from the middle of one to the middle of the last": "boat red boat red boat red",
    "characters that no spaces set apart": "我我我们去",
    "two of them": "我去我去我去",
    "kana": "とても、とても、とても",
}
NOT_REPEATING = {
    "nothing": "",
    "twice": "the the house and the the house",
    "two and a half times": "of the of the of a sea",
    "five words": " ".join(["and in the old boat"] * 3),
    "not in a row": "the boat and the boat or the boat",
    "punctuation": "wait . . . . and see !!!!",
    "letters within a word": "brrrrr hahaha 1000000",
}


@pytest.mark.parametrize("text", REPEATING.values(), ids=REPEATING)
def test_one_to_four_words_three_times_in_a_row(text):
    assert repeats_itself(text)


@pytest.mark.parametrize("text", NOT_REPEATING.values(), ids=NOT_REPEATING)
def test_what_is_no_repetition(text):
    assert not repeats_itself(text)


def counts(*lines):
    """Of triples of source, reference and translation."""
    one = Hypothesis(ids=(5,), log_probability=-1.0, score=-1.0, finished=True)
    sources, references, texts = zip(*lines, strict=True)
    return count_lines(sources, references, [Translation(text, (one,)) for text in texts])


def test_a_repetition_of_the_source_or_the_reference_is_none_of_the_model():
    loop = "the the the"
    assert counts(("a", "b", loop), ("a", "b", "c"))["repetitions"] == 1
    assert counts((loop, "b", loop), ("a", loop, loop))["repetitions"] == 0


def test_marks_of_unknown_pieces_are_counted_unless_they_were_given():
    found = counts(("a", "b", "so ⁇ it"), ("a ⁇", "b", "⁇"), ("a", "⁇ b", "⁇"), ("a", "b", "?"))
    assert found["translations_with_unknown_marks"] == 1


def test_sources_with_characters_that_no_piece_spells(tiny_tokenizer):
    # field case 117
    assert count_unknown(["the red boat", "", "  ", "the 🙂 boat", "Käse"], tiny_tokenizer) == 2
