"""What must hold of the search of a real network, with every option."""

from dataclasses import replace

import pytest
import torch
from plain_search import repeats
from search_options import every_option, main_options
from stand_in_models import BOS, EOS, PAD, UNK, PrefixCache, sources

from latimer.decoding import SearchSettings, beam_search, force_decode
from latimer.model import Transformer

BATCH = sources([4, 1, 7, 2, 9, 3, 1, 5])


@pytest.fixture(scope="module")
def model():
    """Random weights that prefer some pieces clearly, and depend on what they read."""
    torch.manual_seed(3)
    sizes = {"d_model": 32, "heads": 4, "d_ff": 64, "encoder_layers": 1, "decoder_layers": 2}
    model = Transformer(source_vocab_size=50, target_vocab_size=50, tying="none", **sizes)
    with torch.no_grad():
        model.output.weight.mul_(8.0)
    return model.eval()


class Watched:
    """The model with its cache, which at every step must agree with the whole prefix at once."""

    def __init__(self, model, tolerance):
        self.model, self.tolerance, self.steps = model, tolerance, 0

    def start(self, source):
        return WatchedCache(self.model.start(source), source)

    def step(self, last_ids, cache):
        return self.step_with_attention(last_ids, cache)[0]

    def step_with_attention(self, last_ids, cache):
        self.steps += 1
        cache.extend(last_ids)
        found = self.model.step_with_attention(last_ids, cache.real)
        for with_cache, without in zip(found, cache.recompute(self.model), strict=True):
            torch.testing.assert_close(with_cache, without, atol=self.tolerance, rtol=0)
        return found


class WatchedCache(PrefixCache):
    def __init__(self, real, source):
        super().__init__(source)
        self.real, self.source = real, source

    def extend(self, last_ids):
        self.prefixes = [
            [(*prefix, last) for prefix, last in zip(prefixes, row, strict=True)]
            for prefixes, row in zip(self.prefixes, last_ids.tolist(), strict=True)
        ]

    def recompute(self, model):
        beams = len(self.prefixes[0])
        # What follows a piece that only a dead beam holds, such as pad, means nothing to anybody.
        prefixes = torch.tensor(self.prefixes).flatten(0, 1)
        source = self.source.repeat_interleave(beams, dim=0)
        logits = model(source, prefixes)[:, -1].unflatten(0, (-1, beams))
        cross = model.attention_weights(source, prefixes).cross[-1].mean(dim=1)
        return logits, cross[:, -1].unflatten(0, (-1, beams))

    def reorder_beams(self, parents):
        super().reorder_beams(parents)
        self.real.reorder_beams(parents)

    def keep_sentences(self, sentences):
        super().keep_sentences(sentences)
        self.real.keep_sentences(sentences)
        self.source = self.source[sentences]


def ids_of(found):
    return [[hypothesis.ids for hypothesis in hypotheses] for hypotheses in found]


@every_option
def test_the_batch_and_its_order_change_nothing(model, settings):
    # field case 97
    settings = replace(settings, n_best=settings.beam_size // settings.beam_groups)
    alone = [beam_search(model, row[None, row != PAD], settings)[0] for row in BATCH]
    assert len({hypotheses[0].ids for hypotheses in alone}) > 4
    for size in (3, 7):
        batches = [beam_search(model, part, settings) for part in BATCH.split(size)]
        assert ids_of(found for batch in batches for found in batch) == ids_of(alone)
    order = [3, 0, 7, 5, 1, 4, 2, 6]
    turned = beam_search(model, BATCH[order], settings)
    assert ids_of(turned) == ids_of(alone[row] for row in order)


@every_option
def test_a_cache_changes_nothing(model, settings):
    # field case 96
    watched = Watched(model, tolerance=2e-5)
    prefixes = [(7, 8), (), (9,), (), (), (5, 6, 7, 8, 9), (), (4,)]
    found = beam_search(watched, BATCH, settings, prefixes=prefixes)
    assert watched.steps > 4
    assert ids_of(found) == ids_of(beam_search(model, BATCH, settings, prefixes=prefixes))


@main_options
def test_a_cache_changes_nothing_in_bfloat16(model, settings):
    rounded = Transformer(**model.hyperparameters)
    rounded.load_state_dict(model.state_dict())
    watched = Watched(rounded.bfloat16().eval(), tolerance=0.3)
    assert all(beam_search(watched, BATCH[:3], settings))


@every_option
def test_hypotheses_differ_and_fall_and_have_the_scores_of_forced_decoding(model, settings):
    # field cases 98 and 102
    for row, found in zip(BATCH, beam_search(model, BATCH, settings), strict=True):
        assert 1 <= len(found) <= settings.n_best
        assert len({h.ids for h in found}) == len(found)
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
        assert not {PAD, UNK, BOS, EOS}.intersection(*(h.ids for h in found))
        forced = force_decode(
            model,
            row.expand(len(found), -1),
            [h.ids for h in found],
            settings.length_penalty,
            coverage_penalty=settings.coverage_penalty,
        )
        for attribute in ("log_probability", "score"):
            values = [[getattr(h, attribute) for h in each] for each in (found, forced)]
            assert values[0] == pytest.approx(values[1], abs=1e-4)


@main_options
def test_sources_of_one_piece_of_a_thousand_unknown_and_blank_ones(model, settings):
    rows = [[9], [n * 7 % 46 + 4 for n in range(1000)], [UNK, UNK], []]
    batch = torch.full((4, 1001), PAD)
    for row, pieces in zip(batch, rows, strict=True):
        row[: len(pieces) + 1] = torch.tensor([*pieces, EOS])
    settings = replace(settings, max_length=6)
    together = beam_search(model, batch, settings)
    for row, hypotheses in zip(batch, together, strict=True):
        assert all(1 <= len(found.ids) <= 6 for found in hypotheses)
        assert ids_of(beam_search(model, row[None, row != PAD], settings)) == ids_of([hypotheses])


def greedy(model, source, limit, size):
    """The most probable piece that repeats no n-gram, again and again, without a cache."""
    ids = ()
    while len(ids) < limit:
        with torch.no_grad():
            row = model(source[None], torch.tensor([[BOS, *ids]]))[0, -1]
        for piece in range(len(row)):
            if piece != EOS and (piece < EOS or repeats((*ids, piece), size)):
                row[piece] = -torch.inf
        piece = row[EOS + 1 :].argmax().item() + EOS + 1 if not ids else row.argmax().item()
        if piece == EOS:
            break
        ids = (*ids, piece)
    return ids


@pytest.mark.parametrize("size", [0, 1, 2])
def test_beam_one_is_greedy_search_token_for_token(model, size):
    # field case 92
    settings = SearchSettings(beam_size=1, no_repeat_ngram=size, max_length_offset=5)
    limits = ((BATCH != PAD) & (BATCH != EOS)).sum(1) + 5
    for row, limit, [best] in zip(
        BATCH, limits.tolist(), beam_search(model, BATCH, settings), strict=True
    ):
        assert best.ids == greedy(model, row, limit, size)
