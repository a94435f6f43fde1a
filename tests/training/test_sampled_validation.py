"""A run may validate and be scored by minimum risk, as it may by beam search."""

import pytest

from latimer.translation import MinimumRiskSettings, Translator


@pytest.mark.slow
def test_a_run_decodes_in_its_own_way_to_the_end(run, tmp_path):
    ended = run(
        decoding={
            "method": "minimum_risk",
            "samples": 3,
            "temperature": 0.5,
            "top_k": 0,
            "top_p": 0.9,
            "seed": 3,
            "utility": "bleu",
            "max_length_factor": 1.0,
            "max_length_offset": 2,
            "min_length": 1,
            "max_tokens": 1024,
        }
    )
    translator = Translator.from_checkpoint(ended.folder, device="cpu")
    assert isinstance(translator.settings, MinimumRiskSettings)
    assert (translator.settings.samples, translator.settings.utility) == (3, "bleu")
    sources = (tmp_path / "first.en").read_text(encoding="utf-8").split("\n")[:-1]
    written = ended.folder / "evaluation" / "first" / "translations.txt"
    assert written.read_text(encoding="utf-8").split("\n")[:-1] == translator.translate(sources)
    assert "minimum risk by bleu, samples 3, temperature 0.5, top-p 0.9, seed 3" in ended.shown
