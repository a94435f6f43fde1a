"""Sampling behind the translator: from text to text, and from a checkpoint's own settings."""

import pytest
import torch

from latimer.checkpoint import write_checkpoint
from latimer.decoding import SamplingSettings, SearchSettings, force_decode, sample
from latimer.tokenizer import EOS_ID
from latimer.translation import MinimumRiskSettings, Translator, stored_search

SETTINGS = SamplingSettings(samples=4, max_length_offset=3)


@pytest.fixture(scope="module")
def make_translator(make_model, tiny_tokenizers):
    def make(settings=SETTINGS, max_tokens=2000, **hyperparameters):
        model = make_model(**hyperparameters)
        return Translator(model, tiny_tokenizers, settings, max_tokens=max_tokens)

    return make


@pytest.fixture(scope="module")
def lines(make_sentences):
    lines = make_sentences(24, 12)
    lines[3], lines[9], lines[11] = "", "  ", lines[10]
    return lines


def test_the_batch_has_no_influence(make_translator, lines):
    # field case 97
    translator = make_translator()
    alone = [translator.translate([line])[0] for line in lines]
    assert translator.translate(lines) == alone
    assert translator.translate(lines[::-1]) == alone[::-1]
    assert make_translator(max_tokens=150).translate(lines) == alone
    assert alone[10] == alone[11]
    assert [row for row, text in enumerate(alone) if not text] == [3, 9]


def test_samples_come_best_first_and_the_best_is_the_translation(make_translator, lines):
    translator = make_translator()
    for line, found in zip(lines[:3], translator.translations(lines[:3]), strict=True):
        source = torch.tensor([[*translator.tokenizers.source.encode(line), EOS_ID]])
        [drawn] = sample(translator.model, source, SETTINGS)
        scores = [h.score for h in found.hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert scores == pytest.approx(sorted((h.score for h in drawn), reverse=True), abs=1e-4)
        best = found.hypotheses[0]
        assert found.text == translator.tokenizers.target.decode(best.ids)
        [forced] = force_decode(translator.model, source, [best.ids], 0.0)
        assert best.log_probability == pytest.approx(forced.log_probability, abs=1e-4)


def test_another_seed_says_something_else(make_translator, lines):
    other = make_translator(SamplingSettings(samples=4, max_length_offset=3, seed=2))
    assert other.translate(lines[:3]) != make_translator().translate(lines[:3])


def test_a_sample_goes_on_from_a_prefix(make_translator):
    translator = make_translator()
    [free, begun] = translator.translate(["a red boat"] * 2, ["", "the sea"])
    assert begun.startswith("the sea")
    assert free == translator.translate(["a red boat"])[0]


@pytest.mark.parametrize("settings", [SETTINGS, MinimumRiskSettings(samples=3)])
def test_learned_positions_bind_samples(make_translator, settings):
    translator = make_translator(settings, positions="learned", max_length=8)
    [found] = translator.translations(["red boat sea bird " * 9])
    assert found.cut
    assert max(len(h.ids) for h in found.hypotheses) <= 7


@pytest.mark.parametrize(
    ("stored", "settings"),
    [
        ({"beam_size": 7, "n_best": 2}, SearchSettings(beam_size=7, n_best=2)),  # of old
        ({"method": "beam", "beam_size": 7}, SearchSettings(beam_size=7)),
        ({"method": "sampling", "top_p": 0.5}, SamplingSettings(top_p=0.5)),
        ({"method": "minimum_risk", "samples": 9}, MinimumRiskSettings(samples=9)),
    ],
)
def test_a_run_s_own_way_of_decoding_is_used(stored, settings):
    assert stored_search({"decoding": {**stored, "max_tokens": 99}}) == settings


def test_a_checkpoint_of_a_run_that_samples(make_contents, make_translator, lines, tmp_path):
    contents = make_contents()
    drawing = {"method": "sampling", "samples": 4, "max_length_offset": 3, "max_tokens": 2000}
    contents["latimer"]["config"] = {"decoding": drawing}
    write_checkpoint(contents, tmp_path / "best.ckpt")
    rebuilt = Translator.from_checkpoint(tmp_path / "best.ckpt", device="cpu")
    assert rebuilt.translate(lines) == make_translator().translate(lines)
