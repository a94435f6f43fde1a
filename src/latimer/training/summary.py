"""What a person reads when a training has ended: on the screen, and in ``run.md``."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from latimer.checkpoint import describe_updates, read_checkpoint, read_final
from latimer.config.arguments import as_argument
from latimer.config.run import RunConfig
from latimer.data.prepared import PreparedCorpus, report_rows
from latimer.evaluation import Result, bleu_name
from latimer.screen import Screen
from latimer.training.progress import format_duration
from latimer.training.run_folder import read_json, write_text
from latimer.training.score_table import HEADER, score_rows
from latimer.training.taking import RECORD, describe
from latimer.training.validation import as_lines, evenly_spaced

SHOWN = 4
SCORE_COLUMNS = (
    "test set",
    "lines",
    "{bleu}",
    "95% interval",
    "chrF2++",
    "TER",
    "{bleu} of copying the source",
)


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """A run that has reached its end.

    Attributes:
        config: what was asked for.
        corpus: what it was trained on.
        environment: the content of ``environment.json``.
        parameters: weights of the model, shared ones counted once.
        seconds: of training, validations included.
        checkpoint: the file that was scored.
        results: the scores, one for each test set.
        folder: the run's.
    """

    config: RunConfig
    corpus: PreparedCorpus
    environment: dict[str, Any]
    parameters: int
    seconds: float
    checkpoint: Path
    results: Sequence[Result]
    folder: Path


def show_end(run: FinishedRun, screen: Screen) -> None:
    """Some translations of the first test set, and what to type next."""
    for result in run.results[:1]:
        screen.print(f"\ntranslations of {result.test_set}:")
        for row in evenly_spaced(len(result.sources), SHOWN):
            triple = (result.sources[row], result.references[row], result.texts[row])
            screen.print(as_lines(*triple))
    screen.print(f"trained in   {format_duration(run.seconds)}")
    screen.print(f"run folder   {run.folder}")
    screen.print(f"curves       tensorboard --logdir {run.config.runs_folder}")
    screen.print(f"evaluate     python evaluate.py {as_argument('checkpoint', run.folder)}")


def write_run_page(run: FinishedRun) -> None:
    """``run.md``: what was run, on what, how long, the scores, and how to repeat it."""
    data, parts = run.config.data, _parts(run.environment)
    about = read_checkpoint(run.checkpoint)["latimer"]
    updates = describe_updates(about["updates"], about.get("averaged", ()))
    scores = ", ".join(f"{tag} {value:.4f}" for tag, value in about["scores"].items())
    page = [
        f"# {run.config.name}: {data.source_language} → {data.target_language}",
        f"{run.parameters:,} parameters, trained in {format_duration(run.seconds)} "
        f"{_one_after_the_other('on ' + part['hardware'] for part in parts)}.",
        f"Scored: `{run.checkpoint.name}`, {updates} ({scores}).",
        *_beginning(run.folder / RECORD),
        *_validation_table(run.checkpoint.parent),
        "## Scores",
        _table(_score_columns(run.results), [_score_row(result) for result in run.results]),
        *(f"`{result.scores.bleu.signature}`" for result in run.results[:1]),
        "## Pairs",
        _table(*report_rows(run.corpus.report)),
        "## To repeat it",
        "```bash\n" + "\n".join(map(_command, parts)) + "\n```",
        f"{_one_after_the_other(map(_versions, parts))}; every key is in `config.yaml`, every "
        "version in `environment.json`.",
    ]
    write_text("\n\n".join(page) + "\n", run.folder / "run.md")


def _parts(environment: dict[str, Any]) -> list[dict[str, Any]]:
    """The run's beginning, and each part of it after a stop: they can differ in everything."""
    return [environment, *environment.get("resumed", [])]


def _one_after_the_other(said: Iterable[str]) -> str:
    """What is said of the parts of a run, once as long as it stays the same."""
    return ", then ".join(same for same, _ in groupby(said))


def _command(part: dict[str, Any]) -> str:
    """What was typed."""
    after = f"  # after update {part['after_update']:,}" if "after_update" in part else ""
    return shlex.join(part["command"]) + after


def _versions(part: dict[str, Any]) -> str:
    """Where it was typed, and what ran."""
    return (
        f"in `{part['launch_folder']}`, revision `{part['git_revision']}`, Python "
        f"{part['python']}, torch {part['packages']['torch']}"
    )


def _beginning(record: Path) -> list[str]:
    """What the run began with, if not with random weights."""
    return [f"Began with {describe(read_json(record))}."] if record.is_file() else []


def _validation_table(checkpoints: Path) -> list[str]:
    """The best checkpoint beside an average, and which of them was taken; nothing without one."""
    final = read_final(checkpoints)
    if final is None:
        return []
    rows = score_rows(final["validation"], final["checkpoint"])
    return ["## On the validation set", _table(HEADER, rows)]


def _score_columns(results: Sequence[Result]) -> list[str]:
    """The names of the scores: not every BLEU may be called so without a word more."""
    bleu = bleu_name(results[0].scores.bleu) if results else "BLEU"
    return [column.format(bleu=bleu) for column in SCORE_COLUMNS]


def _score_row(result: Result) -> list[str]:
    scores = result.scores
    low, high = scores.bleu.confidence or (float("nan"), float("nan"))
    return [
        result.test_set,
        f"{len(result.references):,}",
        f"{scores.bleu.score:.2f}",
        f"{low:.2f} to {high:.2f}",
        f"{scores.chrf.score:.2f}",
        f"{scores.ter.score:.2f}",
        f"{result.copy_bleu:.2f}",
    ]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
