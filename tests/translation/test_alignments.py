import numpy as np
import pytest
import torch

from latimer.errors import LatimerError
from latimer.tokenizer import BOS_ID, EOS_ID, train_tokenizer
from latimer.translation.alignments import Aligner, PiecedText, in_pharaoh_format, link
from latimer.translation.words import membership


def pieced(text, *pieces):
    """A text with pieces of our own choice, which follow one another."""
    ends = np.cumsum([len(piece) for piece in pieces]).tolist()
    assert "".join(pieces) == text
    return PiecedText(text, range(10, 10 + len(pieces)), list(zip([0, *ends], ends, strict=False)))


def of_words(text, *pieces):
    """For each piece the numbers of its words."""
    belongs = membership(text, pieced(text, *pieces).spans)
    return [np.flatnonzero(row).tolist() for row in belongs]


def test_pieces_and_their_words():
    assert of_words("red boat", "re", "d", " boat") == [[0], [0], [1]]
    assert of_words("red boat", "red boat") == [[0, 1]]
    assert of_words("\u00a0red\u3000 boat  ", "\u00a0red\u3000", " boat  ") == [[0], [1]]


def test_a_piece_without_characters_begins_the_next_word():
    assert of_words("red boat", "", "red", " ", "", "boat") == [[0], [0], [1], [1], [1]]
    assert of_words("red ", "red", " ", "") == [[0], [], []]
    assert of_words("  ", "  ") == [[]]


SOURCE = pieced("the old boat", "the", " o", "ld", " boat")


def test_a_word_is_linked_to_where_its_pieces_gather_most():
    target = pieced("altes Boot", "al", "tes", " Boot")
    # The two pieces of "old" together outweigh "boat", which alone outweighs each of them.
    weights = np.array([[0.0, 0.3, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.0, 0.5]])
    assert link(SOURCE, target, weights) == [(1, 0), (2, 1)]


def test_nothing_is_linked_that_has_no_piece():
    nothing = PiecedText("\u200b", [], [])
    assert link(nothing, SOURCE, np.zeros((4, 0))) == []
    assert link(SOURCE, nothing, np.zeros((0, 4))) == []
    source = PiecedText("\u200b red", [10], [(1, 5)])
    assert link(source, SOURCE, np.zeros((4, 1))) == [(1, 0), (1, 1), (1, 2)]


def test_pharaohs_format():
    assert in_pharaoh_format([(0, 0), (12, 1)]) == "0-0 12-1"
    assert in_pharaoh_format([]) == ""


def test_a_line_whose_end_is_cut_off(tiny_tokenizer):
    text = "red boat sea bird"
    whole = PiecedText.read(text, tiny_tokenizer)
    cut = PiecedText.read(text, tiny_tokenizer, most=2)
    assert (cut.ids, cut.spans) == (whole.ids[:2], whole.spans[:2])
    assert len(whole.ids) > 2


@pytest.fixture(scope="module")
def pairs(make_sentences, tiny_tokenizer):
    texts = [*make_sentences(20, 41), "", "a"]
    read = [PiecedText.read(text, tiny_tokenizer) for text in texts]
    return list(zip(read, read[::-1], strict=True))


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize("reading", [False, True])
def test_the_weights_are_those_of_the_layer_and_the_step(
    make_model, pairs, monkeypatch, layer, reading
):
    model, seen = make_model(), []

    def keep(source, target, weights):
        seen.append((source, target, weights))
        return []

    monkeypatch.setattr("latimer.translation.alignments.link", keep)
    Aligner(model, layer=layer, reading=reading).align(pairs[:10])
    assert len(seen) == 10
    for source, target, weights in seen:
        all_weights = model.attention_weights(
            torch.tensor([[*source.ids, EOS_ID]]), torch.tensor([[BOS_ID, *target.ids]])
        )
        mean = all_weights.cross[layer - 1, 0].mean(dim=0).numpy()
        # Row i has read the pieces before i, and writes piece i: the input is shifted by bos.
        rows = mean[1:] if reading else mean[:-1]
        np.testing.assert_allclose(weights, rows[:, :-1], atol=1e-6)


def test_what_is_aligned_together_has_no_influence(make_model, pairs):
    aligner = Aligner(make_model())
    together = aligner.align(pairs)
    assert [aligner.align([pair])[0] for pair in pairs] == together
    assert Aligner(make_model(), max_tokens=1).align(pairs) == together
    assert len({in_pharaoh_format(links) for links in together}) > 10


def test_every_word_of_a_target_has_one_link(make_model, pairs):
    for (source, target), links in zip(pairs, Aligner(make_model()).align(pairs), strict=True):
        words = range(len(target.text.split())) if source.text else []
        assert [word for _, word in links] == list(words)
        assert all(0 <= word < len(source.text.split()) for word, _ in links)


def test_the_layer_is_the_last_one_unless_it_is_said(make_model):
    for layers in (1, 2, 3):
        assert Aligner(make_model(decoder_layers=layers)).layer == layers
    for layer in (0, 3, -1):
        with pytest.raises(LatimerError, match=f"alignment layer {layer}: .* layers 1 to 2"):
            Aligner(make_model(decoder_layers=2), layer=layer)


def test_hypotheses_are_aligned_by_the_text_that_is_shown():
    tokenizer = train_tokenizer(["½ ﬁne", "a red b"] * 20, vocab_size=25)
    hypothesis = PiecedText.written(tokenizer.encode("½ ﬁne a"), tokenizer)
    assert hypothesis.text == "1⁄2 fine a"
    assert membership(hypothesis.text, hypothesis.spans).sum(axis=0).min() >= 1
