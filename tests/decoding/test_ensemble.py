"""An ensemble is the mean of its models' probabilities, at every step."""

import math

import pytest
import torch
from stand_in_models import BOS, EOS, A, B, noise_model, sources, table_model

from latimer.decoding import (
    Ensemble,
    SamplingSettings,
    SearchSettings,
    beam_search,
    force_decode,
    sample,
)
from latimer.model import Transformer

ONE = {"": {"a": 0.8, "b": 0.2}, "a": {"": 0.5, "b": 0.5}}
TWO = {"": {"b": 0.9, "a": 0.1}, "b": {"": 0.6, "a": 0.4}}


def make_transformer(seed, **sizes):
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "heads": 2, "encoder_layers": 1, "decoder_layers": 1, **sizes}
    return Transformer(source_vocab_size=50, target_vocab_size=50, d_ff=32, **sizes).eval()


def test_two_tables_by_hand():
    both, source = Ensemble([table_model(ONE), table_model(TWO)]), sources([3, 2])
    found = force_decode(both, source, [[A], [B]], 0.0)
    # a: (0.8 + 0.1) / 2, then its end: (0.5 + 1) / 2; b: (0.2 + 0.9) / 2, then (1 + 0.6) / 2
    expected = [math.log(0.45 * 0.75), math.log(0.55 * 0.8)]
    assert [h.log_probability for h in found] == pytest.approx(expected, abs=1e-5)


def test_the_mean_is_of_probabilities_and_not_of_their_logarithms():
    # What one model thinks impossible may still be the best that both know.
    both = Ensemble([table_model({"": {"a": 1.0}}), table_model({"": {"b": 0.6, "a": 0.4}})])
    logits = both.step(torch.tensor([[BOS]]), both.start(sources([2])))
    assert logits[0, 0].exp()[[A, B, EOS]].tolist() == pytest.approx([0.7, 0.3, 0])
    assert logits[0, 0].logsumexp(0).item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_an_ensemble_of_a_model_with_itself_is_the_model(beam_size):
    model, batch = make_transformer(1), sources([1, 9, 4, 6, 2])
    settings = SearchSettings(beam_size=beam_size, n_best=beam_size, max_length_offset=5)
    alone = beam_search(model, batch, settings)
    twice = beam_search(Ensemble([model, model]), batch, settings)
    for mine, other in zip(alone, twice, strict=True):
        assert [h.ids for h in mine] == [h.ids for h in other]
        assert [h.score for h in mine] == pytest.approx([h.score for h in other], abs=1e-5)


@pytest.mark.parametrize("count", [1, 3])
def test_samples_of_an_ensemble_of_a_model_with_itself_are_those_of_the_model(count):
    model, batch = make_transformer(2), sources([4, 1, 7])
    settings = SamplingSettings(samples=4, max_length_offset=5)
    alone = sample(model, batch, settings)
    again = sample(Ensemble([model] * count), batch, settings)
    assert [[h.ids for h in drawn] for drawn in alone] == [[h.ids for h in d] for d in again]


def test_models_of_different_sizes_keep_caches_of_their_own():
    # field case 96: every step's mean is that of the models with the whole target at once
    models = [
        make_transformer(1),
        make_transformer(2, d_model=32, decoder_layers=3, positions="rotary"),
    ]
    batch = sources([1, 9, 4, 6, 2])
    settings = SearchSettings(beam_size=3, n_best=3, max_length_offset=5, length_penalty=0)
    for row, hypotheses in zip(batch, beam_search(Ensemble(models), batch, settings), strict=True):
        for hypothesis in hypotheses:
            target, labels = [[BOS, *hypothesis.ids]], [*hypothesis.ids, EOS]
            with torch.no_grad():
                each = [model(row[None], torch.tensor(target))[0].softmax(-1) for model in models]
            probabilities = (sum(each) / 2)[torch.arange(len(labels)), labels]
            total = probabilities.log().sum().item()
            assert hypothesis.log_probability == pytest.approx(total, abs=1e-4)


def test_a_sentence_is_translated_alike_alone_and_in_a_batch():
    # field case 97
    both = Ensemble([noise_model(1, end_bias=1.0), noise_model(2, end_bias=0.5)])
    batch, settings = sources([3, 1, 8, 5, 2]), SearchSettings(beam_size=3, max_length_offset=5)
    together = beam_search(both, batch, settings)
    for row, [best] in zip(batch, together, strict=True):
        [[alone]] = beam_search(both, row[None, row != 0], settings)
        assert alone.ids == best.ids
        assert alone.score == pytest.approx(best.score, abs=1e-5)


def test_the_attention_of_an_ensemble_is_the_mean_of_its_models():
    models, batch = [make_transformer(1), make_transformer(2)], sources([3, 5])
    both, last_ids = Ensemble(models), torch.full((2, 1), BOS)
    logits, weights = both.step_with_attention(last_ids, both.start(batch))
    each = [model.step_with_attention(last_ids, model.start(batch))[1] for model in models]
    assert torch.allclose(weights, (each[0] + each[1]) / 2)
    assert torch.allclose(logits, both.step(last_ids, both.start(batch)), atol=1e-6)


def test_an_ensemble_needs_a_model():
    with pytest.raises(ValueError, match="at least one model"):
        Ensemble([])


def test_a_model_that_does_not_tell_its_attention_is_named():
    class Silent:
        start = staticmethod(noise_model(1).start)

        def step(self, last_ids, cache):
            raise AssertionError("asked for less than it was to tell")

    both = Ensemble([Silent()])
    with pytest.raises(TypeError, match="Silent does not tell"):
        both.step_with_attention(torch.full((1, 1), BOS), both.start(sources([2])))
