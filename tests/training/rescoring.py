"""A checkpoint scored anew on the validation set: its text by the door of ``evaluate.py``."""

from pathlib import Path

from datasets import Dataset

from latimer.checkpoint import load_model
from latimer.config.decoding import stored_decoding
from latimer.data.prepared import prepare
from latimer.evaluation import EvaluationSettings, evaluate_test_sets
from latimer.screen import Screen
from latimer.training.task import TranslationTask
from latimer.training.trainer import make_loaders
from latimer.training.validation import evenly_spaced


def rescored(run, name: str, folder: Path) -> dict[str, float]:
    """What the checkpoint of that name scores; the search, the subset and the way are the run's."""
    loaded = load_model(run.folder / "checkpoints" / f"{name}.ckpt")
    corpus = prepare(run.config.data, run.config.tokenizer, folder=Path(run.config.prepared_folder))
    task = TranslationTask(loaded.model, run.config)
    for number, batches in enumerate(make_loaders(run.config, corpus)[1]):
        task.validation_step(batches, number)
    text = corpus.validation_text
    subset = text.select(evenly_spaced(len(text), run.config.validation.bleu_sentences))
    [result] = evaluate_test_sets(
        loaded,
        {"subset": Dataset.from_dict(subset[:])},
        EvaluationSettings(
            decoding=stored_decoding(loaded.config["decoding"]),
            bootstrap=0,
            bleu_tokenizer=run.config.scoring.bleu_tokenizer,
            lowercase=run.config.scoring.lowercase,
            device="cpu",
        ),
        folder=folder,
        screen=Screen(),
    )
    return {
        "val/nll": task.mean_validation_nll(),
        "val/bleu": result.scores.bleu.score,
        "val/chrf": result.scores.chrf.score,
        "val/length_ratio": result.scores.length_ratio,
    }
