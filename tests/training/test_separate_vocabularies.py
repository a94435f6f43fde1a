"""A run whose sides have vocabularies of their own, from its data to its checkpoint elsewhere."""

import json
import shutil

from latimer.checkpoint import load_model
from latimer.data.corpus import read_test_sets
from latimer.evaluation import EvaluationSettings, evaluate_test_sets
from latimer.screen import Screen
from latimer.translation import Translator
from toy_run import GOOD_ENOUGH

SEPARATE = {
    "tokenizer.vocabulary": "separate",
    "tokenizer.vocab_size": 60,
    "model.tying": "decoder",
}
HASHES = ("source_tokenizer_sha256", "target_tokenizer_sha256")


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_run_and_its_checkpoint_elsewhere(run, tmp_path):
    """Field cases 83, 84 and 85."""
    ended = run(**GOOD_ENOUGH, **SEPARATE)
    assert "vocabulary   60 + 60 pieces" in ended.shown
    there, here = ended.folder / "evaluation" / "first", tmp_path / "here"
    result, texts = read_json(there / "result.json"), (there / "translations.txt").read_bytes()
    assert result["scores"]["BLEU"]["score"] > 1.0, "no test if nothing was learnt"
    hashes = {name: result[name] for name in HASHES}
    assert len(set(hashes.values())) == 2
    for about in (contents["latimer"] for contents in ended.checkpoints.values()):
        assert hashes.items() <= about.items()
    assert hashes.items() <= read_json(ended.folder / "data.json").items()

    moved = shutil.copy(result["checkpoint"], tmp_path / "moved.ckpt")
    test_sets = read_test_sets(ended.config.data)
    shutil.rmtree(ended.folder)
    shutil.rmtree(ended.config.prepared_folder)
    settings = EvaluationSettings(decoding=ended.config.decoding)
    evaluate_test_sets(load_model(moved), test_sets, settings, folder=here, screen=Screen())
    again = read_json(here / "first" / "result.json")
    assert (again["scores"], {name: again[name] for name in HASHES}) == (result["scores"], hashes)
    assert (here / "first" / "translations.txt").read_bytes() == texts
    translated = Translator.from_checkpoint(moved).translate(list(test_sets["first"]["source"]))
    assert "".join(f"{line}\n" for line in translated).encode() == texts
