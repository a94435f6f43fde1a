import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from latimer.decoding import SearchSettings, beam_search, force_decode
from latimer.errors import LatimerError
from latimer.tokenizer import EOS_ID
from latimer.translation import Translator, choose_device

SETTINGS = SearchSettings(beam_size=3, max_length_offset=4)


@pytest.fixture(scope="module")
def translator(make_model, tiny_tokenizers):
    return Translator(make_model(), tiny_tokenizers, SETTINGS, max_tokens=2000)


@pytest.fixture(scope="module")
def lines(make_sentences):
    """80 lines: blank ones, and ones of a single character, among them."""
    lines = make_sentences(80, 11)
    lines[3] = lines[40] = ""
    lines[20], lines[60] = "   ", "a"
    return lines


def in_chunks(translator, lines, size):
    chunks = [lines[first : first + size] for first in range(0, len(lines), size)]
    return [text for chunk in chunks for text in translator.translate(chunk)]


def test_the_batch_has_no_influence(translator, lines):  # field cases 6, 97
    alone = in_chunks(translator, lines, 1)
    assert len(set(alone)) > 40, "the model says nearly the same of everything: no test"
    assert in_chunks(translator, lines, 7) == alone
    assert in_chunks(translator, lines, 64) == alone
    translator = Translator(translator.model, translator.tokenizers, SETTINGS, max_tokens=100)
    assert translator.translate(lines) == alone


def test_lines_in_lines_out_in_order_and_blanks_stay_blank(translator, lines):
    # field cases 5, 8
    texts = translator.translate(lines)
    assert len(texts) == len(lines)
    assert [row for row, text in enumerate(texts) if text == ""] == [3, 20, 40]
    assert translator.translate(lines[::-1]) == texts[::-1]


def test_a_blank_line_does_not_reach_the_model(translator, monkeypatch):  # field case 5
    def start(source):
        raise AssertionError("the model was called")

    monkeypatch.setattr(translator.model, "start", start)
    assert translator.translate(["", " ", "\t", "\u3000"]) == [""] * 4
    assert translator.search([""]) == [[]]
    assert translator.translate([]) == []


def test_only_pieces_of_text_are_returned(translator, lines):  # field cases 98, 119
    pieces = translator.tokenizers.target.vocab_size
    for hypotheses in translator.search(lines):
        for hypothesis in hypotheses:
            assert all(EOS_ID < piece < pieces for piece in hypothesis.ids)


def test_scores_are_those_of_forced_decoding(translator, lines):  # field case 102
    compared = [line for line in lines[:25] if line.strip()][:20]
    assert len(compared) == 20
    for line, [best] in zip(compared, translator.search(compared), strict=True):
        source = torch.tensor([[*translator.tokenizers.source.encode(line), EOS_ID]])
        [forced] = force_decode(translator.model, source, [best.ids], 0.6)
        assert forced.log_probability == pytest.approx(best.log_probability, abs=1e-4)
        assert forced.score == pytest.approx(best.score, abs=1e-4)


def test_several_hypotheses_best_first(translator, lines):
    settings = replace(SETTINGS, n_best=3)
    found = Translator(
        translator.model, translator.tokenizers, settings, max_tokens=2000
    ).translations(lines[:3])
    for translation in found:
        scores = [hypothesis.score for hypothesis in translation.hypotheses]
        assert len(scores) == 3
        assert scores == sorted(scores, reverse=True)
        best = translation.hypotheses[0]
        assert translation.text == translator.tokenizers.target.decode(best.ids)


def test_sources_are_cut_by_their_own_tokenizer_and_hypotheses_joined_by_theirs(
    make_model, separate_tokenizers, lines
):
    source, target = separate_tokenizers
    model = make_model(**separate_tokenizers.vocab_sizes)
    translator = Translator(model, separate_tokenizers, SETTINGS, max_tokens=2000)
    for line, translation in zip(lines[:3], translator.translations(lines[:3]), strict=True):
        [[best]] = beam_search(model, torch.tensor([[*source.encode(line), EOS_ID]]), SETTINGS)
        assert translation.hypotheses[0].ids == best.ids
        assert translation.text == target.decode(best.ids) != source.decode(best.ids)


def test_sinusoids_know_no_limit(translator):
    [translation] = translator.translations(["red " * 400])
    assert not translation.cut
    assert len(translator.tokenizers.source.encode("red " * 400)) >= 400


def test_sources_beyond_the_learned_positions_are_cut_and_counted(make_model, tiny_tokenizers):
    # field case 21
    model = make_model(positions="learned", max_length=10)
    settings = SearchSettings(beam_size=2, max_length_offset=50)
    translator = Translator(model, tiny_tokenizers, settings, max_tokens=500)
    short, long = translator.translations(["red", "red boat sea bird " * 9])
    assert (short.cut, long.cut) == (False, True)
    assert max(len(t.hypotheses[0].ids) for t in (short, long)) <= 9
    tokenizer = tiny_tokenizers.source
    nine = tokenizer.encode("red boat sea bird " * 9)[:9]
    [cut] = translator.translations([tokenizer.decode(nine)])
    assert tokenizer.encode(tokenizer.decode(nine)) == nine
    assert (cut.cut, cut.text) == (False, long.text)


def test_the_precision_and_the_mode_of_a_training_do_not_matter(make_model, tiny_tokenizers, lines):
    # field case 115
    model = make_model(dropout=0.5)
    translator = Translator(model, tiny_tokenizers, SETTINGS, max_tokens=2000)
    expected = translator.search(lines[:10])
    model.train()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert translator.search(lines[:10]) == expected
    assert model.training


def test_from_a_checkpoint_with_the_settings_of_its_run(tiny_checkpoint, translator, lines):
    rebuilt = Translator.from_checkpoint(tiny_checkpoint, device="cpu")
    assert rebuilt.settings == SETTINGS
    assert rebuilt.max_tokens == 2000
    assert rebuilt.translate(lines) == translator.translate(lines)
    greedy = Translator.from_checkpoint(
        tiny_checkpoint.parents[1], replace(SETTINGS, beam_size=1), device="cpu"
    )
    assert greedy.settings.beam_size == 1


def test_a_device_that_is_not_there():
    assert choose_device("cpu") == torch.device("cpu")
    for name in ("tpu", "abc:x", "xpu"):
        with pytest.raises(LatimerError, match=rf"device={name}: .*write auto, "):
            choose_device(name)


def test_translating_loads_no_training_library():
    program = "import sys, latimer.translation; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(result.stdout.split())
    heavy = {"pytorch_lightning", "hydra", "datasets", "sacrebleu", "latimer.training"}
    assert not heavy & loaded
