"""Ten pairs are learnt by heart: a pipeline that cannot do that has a fault (field case 101)."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def read_bleu(path):
    result = json.loads(path.read_text(encoding="utf-8"))
    return result["scores"]["BLEU"]["score"], result["decoding"]["beam_size"]


def test_ten_pairs_are_learnt_by_heart(command, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    run = tmp_path / "run"
    trained = command(
        "train.py",
        "debug=overfit",
        f"run_folder={run}",
        f"prepared_folder={tmp_path / 'prepared'}",
        "trainer.accelerator=cpu",
    )
    assert (trained.code, trained.complaints) == (0, "")
    assert read_bleu(run / "evaluation" / "ten_pairs" / "result.json") == (100.0, 4)
    greedy = command(
        "evaluate.py",
        f"checkpoint={run / 'checkpoints' / 'best.ckpt'}",
        "decoding.beam_size=1",
        f"output_folder={tmp_path / 'greedy'}",
        "device=cpu",
    )
    assert greedy.code == 0
    assert read_bleu(tmp_path / "greedy" / "ten_pairs" / "result.json") == (100.0, 1)
    assert "100.00" in greedy.shown
