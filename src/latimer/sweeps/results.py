"""What a run that has ended is worth, from the files in its folder."""

from pathlib import Path

from latimer.checkpoint import find_checkpoint, read_checkpoint
from latimer.evaluation.saved import read_run


def final_score(folder: Path, monitor: str) -> float:
    """The validation score of the checkpoint that a run was judged by."""
    scores = read_checkpoint(find_checkpoint(folder))["latimer"]["scores"]
    return float(scores[monitor])


def bleu_scores(folder: Path) -> dict[str, float]:
    """BLEU, 0 to 100, of each test set that a run was scored on."""
    results = read_run(folder).results
    return {name: result.numbers["scores"]["BLEU"]["score"] for name, result in results.items()}
