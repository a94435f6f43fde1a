"""Several checkpoints translate together, if their pieces and languages are the same."""

import pytest
import torch

from latimer.checkpoint import load_model, write_checkpoint
from latimer.decoding import Ensemble, SearchSettings, beam_search
from latimer.errors import LatimerError
from latimer.tokenizer import EOS_ID, Tokenizers, train_tokenizer
from latimer.translation import Translator, require_different

SETTINGS = SearchSettings(beam_size=3, max_length_offset=4)


@pytest.fixture
def make_checkpoint(make_contents, tmp_path):
    def make(name, languages=("xx", "yy"), **arguments):
        contents = make_contents(**arguments)
        about = contents["latimer"]
        about["source_language"], about["target_language"] = languages
        write_checkpoint(contents, tmp_path / name)
        return tmp_path / name

    return make


@pytest.fixture(scope="module")
def lines(make_sentences):
    return ["", *make_sentences(12, 13)]


def test_a_checkpoint_with_itself_translates_as_it_does_alone(make_checkpoint, lines):
    path = make_checkpoint("one.ckpt")
    alone = Translator.from_checkpoint(path, device="cpu").translations(lines)
    twice = Translator.from_checkpoints([path, path], device="cpu").translations(lines)
    assert [t.text for t in twice] == [t.text for t in alone]
    for one, other in zip(alone, twice, strict=True):
        for mine, theirs in zip(one.hypotheses, other.hypotheses, strict=True):
            assert mine.ids == theirs.ids
            assert mine.log_probability == pytest.approx(theirs.log_probability, abs=1e-5)


def test_a_state_that_is_named_twice_is_refused(make_checkpoint):
    one, two = make_checkpoint("one.ckpt"), make_checkpoint("two.ckpt", seed=2)
    require_different([load_model(one), load_model(two)])
    (one.parent / "copy.ckpt").write_bytes(one.read_bytes())
    with pytest.raises(LatimerError, match=r"one\.ckpt and .*copy\.ckpt are the same state"):
        require_different([load_model(path) for path in (one, two, one.parent / "copy.ckpt")])


def test_different_checkpoints_translate_together(make_checkpoint, lines):
    paths = [make_checkpoint("one.ckpt"), make_checkpoint("two.ckpt", seed=2, d_model=32)]
    translator = Translator.from_checkpoints(paths, SETTINGS, device="cpu")
    together = translator.translate(lines)
    models = [load_model(path).model for path in paths]
    for line, text in zip(lines[1:], together[1:], strict=True):
        source = torch.tensor([[*translator.tokenizers.source.encode(line), EOS_ID]])
        [[best]] = beam_search(Ensemble(models), source, SETTINGS)
        assert text == translator.tokenizers.target.decode(best.ids)
    assert [translator.translate([line])[0] for line in lines] == together  # field case 97
    alone = [
        Translator.from_checkpoint(path, SETTINGS, device="cpu").translate(lines) for path in paths
    ]
    assert together not in alone


def test_the_fewest_learned_positions_bind_all(make_checkpoint):
    learned = {"positions": "learned"}
    paths = [
        make_checkpoint("one.ckpt"),
        make_checkpoint("two.ckpt", max_length=12, **learned),
        make_checkpoint("three.ckpt", max_length=10, **learned),
    ]
    translator = Translator.from_checkpoints(paths, SETTINGS, device="cpu")
    assert translator.max_source_length == translator.settings.max_length == 9
    [found] = translator.translations(["red boat sea bird " * 9])
    assert found.cut
    assert len(found.hypotheses[0].ids) <= 9


def test_every_member_translates_without_dropout_and_stays_in_its_mode(
    make_model, tiny_tokenizers, lines
):
    models = [make_model(1, dropout=0.5), make_model(2, dropout=0.5)]
    translator = Translator(Ensemble(models), tiny_tokenizers, SETTINGS, max_tokens=2000)
    expected = translator.search(lines)
    models[1].train()
    assert translator.search(lines) == expected
    assert [model.training for model in models] == [False, True]


def test_given_translations_are_scored_by_the_mean(make_checkpoint):
    paths = [make_checkpoint("one.ckpt"), make_checkpoint("two.ckpt", seed=2)]
    together = Translator.from_checkpoints(paths, SETTINGS, device="cpu")
    each = [Translator.from_checkpoint(path, SETTINGS, device="cpu") for path in paths]
    pair = ["a red boat"], [""]  # one step, that of eos
    [mean] = together.scores(*pair)
    probabilities = [t.scores(*pair)[0].log_probability for t in each]
    expected = torch.tensor(probabilities).exp().mean().log().item()
    assert mean.log_probability == pytest.approx(expected, abs=1e-5)


def test_other_tokenizers_are_refused_with_the_file(
    make_checkpoint, separate_tokenizers, tiny_tokenizers
):
    one = make_checkpoint("one.ckpt")
    two = make_checkpoint("two.ckpt", tokenizers=separate_tokenizers)
    with pytest.raises(LatimerError, match=r"two\.ckpt: its target tokenizer is not the one of"):
        Translator.from_checkpoints([one, two], device="cpu")


def test_other_tokenizers_of_the_same_size_are_refused(
    make_checkpoint, make_sentences, tiny_tokenizer
):
    """Field case 85."""
    other = train_tokenizer(make_sentences(300, 5), vocab_size=tiny_tokenizer.vocab_size)
    one = make_checkpoint("one.ckpt")
    two = make_checkpoint("two.ckpt", tokenizers=Tokenizers.joint(other))
    with pytest.raises(LatimerError, match=r"two\.ckpt: its source tokenizer is not the one of"):
        Translator.from_checkpoints([one, two], device="cpu")


def test_other_languages_are_refused_though_the_pieces_are_the_same(make_checkpoint):
    one, two = make_checkpoint("one.ckpt"), make_checkpoint("two.ckpt", languages=("yy", "xx"))
    with pytest.raises(LatimerError, match=r"two\.ckpt translates yy to xx, and .* xx to yy"):
        Translator.from_checkpoints([one, two], device="cpu")


def test_no_checkpoint_is_refused():
    with pytest.raises(LatimerError, match="name at least one"):
        Translator.from_checkpoints([])
