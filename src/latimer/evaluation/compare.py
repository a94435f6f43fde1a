"""``latimer compare``: how runs differ, in their settings and in their scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latimer.errors import LatimerError
from latimer.evaluation.compare_tables import show_comparison, show_differences
from latimer.evaluation.files import RESULT
from latimer.evaluation.saved import SavedResult, SavedRun, read_run
from latimer.scoring import ABOUT_P, PairedScore, paired_scores
from latimer.screen import Screen


def compare_runs(folders: Sequence[Path], screen: Screen) -> None:
    """Shows the settings that differ, and each test set's scores with tests against the first run.

    Args:
        folders: two or more run folders, the one that the others are compared with first. The
            folder of a sweep stands for its runs that have ended.
        screen: where the tables are shown.

    Raises:
        LatimerError: a folder is no evaluated run, or the results cannot be compared: other
            sentences, other references, or another way of scoring.
    """
    places = [place for folder in folders for place in _runs_in(folder)]
    if len(places) < 2:
        raise LatimerError("a comparison needs two runs or more: latimer compare RUN RUN ...")
    runs = [read_run(place) for place in places]
    names = _common_names(runs)
    compared = {name: _compare_results([run.results[name] for run in runs]) for name in names}
    for number, run in enumerate(runs, start=1):
        screen.print(f"run {number}: {run.folder}")
    show_differences("settings that differ", [_settings(run) for run in runs], screen)
    for name in names:
        show_comparison(name, [run.results[name] for run in runs], compared[name], screen)
    left_out = sorted({name for run in runs for name in run.results} - set(names))
    if left_out:
        screen.print(f"not compared, since not every run has it: {', '.join(left_out)}")
    screen.print(ABOUT_P)


def _runs_in(folder: Path) -> list[Path]:
    if not (folder / "sweep.json").is_file():
        return [folder]
    # By their numbers: 99 before 100.
    places = [page.parent for page in folder.glob("*/run.md")]
    return sorted(places, key=lambda place: (len(place.name), place.name))


def _settings(run: SavedRun) -> dict[str, Any]:
    """Those of a run, but for its place."""
    return {key: value for key, value in run.config.items() if key != "run_folder"}


def _common_names(runs: Sequence[SavedRun]) -> list[str]:
    names = [name for name in runs[0].results if all(name in run.results for run in runs)]
    if not names:
        scored = "; ".join(f"{run.folder}: {', '.join(run.results)}" for run in runs)
        raise LatimerError(f"there is no test set on which all runs were scored ({scored})")
    return names


def _compare_results(results: Sequence[SavedResult]) -> list[list[PairedScore]]:
    """For BLEU and chrF2++ in turn, one entry for each run.

    Raises:
        LatimerError: the results are not of the same sentences and the same way of scoring.
    """
    first = results[0]
    for other in results[1:]:
        _require_same(first, other)
    compared = paired_scores(
        [result.translations for result in results],
        first.references,
        target_language=first.numbers["target_language"],
        bleu_tokenizer=first.numbers["scoring"]["bleu_tokenizer"],
        lowercase=first.numbers["scoring"]["lowercase"],
    )
    for result, bleu in zip(results, compared[0], strict=True):
        _require_own_score(result, bleu.metric.score)
    return compared


def _require_same(first: SavedResult, other: SavedResult) -> None:
    what = None
    if first.references != other.references:
        what = "their references differ"
    elif first.numbers["test_set_sha256"] != other.numbers["test_set_sha256"]:
        what = "their source sentences differ"
    elif _scoring(first) != _scoring(other):
        what = f"they were scored with {_scoring(first)} and with {_scoring(other)}"
    if what:
        raise LatimerError(
            f"{first.folder} and {other.folder} can't be compared: {what}; "
            "evaluate both checkpoints in the same way, on the same test set"
        )


def _scoring(result: SavedResult) -> dict[str, Any]:
    chosen = {key: result.numbers["scoring"][key] for key in ("bleu_tokenizer", "lowercase")}
    return {"target_language": result.numbers["target_language"], **chosen}


def _require_own_score(result: SavedResult, bleu: float) -> None:
    written = result.numbers["scores"]["BLEU"]["score"]
    if abs(bleu - written) > 0.005:
        raise LatimerError(
            f"{result.folder}: its translations score {bleu:.2f} BLEU, but {RESULT} says "
            f"{written:.2f}: a file was changed, or another sacrebleu was at work; evaluate again"
        )
