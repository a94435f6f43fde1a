"""The ``latimer`` command: what is done with trained models.

What a command needs is imported when it is called, so that help and mistakes show at once.
"""

# ruff: noqa: PLC0415
import sys
from pathlib import Path
from typing import Annotated

import typer

from latimer.errors import LatimerError

app = typer.Typer(
    help="What is done with trained models; train.py trains them, evaluate.py scores them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

CHECKPOINT = typer.Argument(
    metavar="CHECKPOINT", help="A file, or a run's folder for its best.ckpt."
)
SENTENCE = typer.Argument(
    metavar="SENTENCE", help="One sentence of the source language, in quotes."
)
TARGET = typer.Option(
    metavar="TEXT", help="Have the model write this instead of its own translation."
)
OUTPUT = typer.Option(
    metavar="FOLDER",
    help="Where the files go; without it a new folder in the run's, attention/1, attention/2, …",
)
RUNS = typer.Argument(metavar="RUN", help="Folders of runs that have ended.")


@app.command()
def attention(
    checkpoint: Annotated[Path, CHECKPOINT],
    sentence: Annotated[str, SENTENCE],
    target: Annotated[str | None, TARGET] = None,
    output: Annotated[Path | None, OUTPUT] = None,
) -> None:
    """Draws who attends to whom while a sentence is translated.

    Heatmaps of encoder, decoder and cross-attention, of each layer and head: PNG files, and one
    page that needs no other file.
    """
    from latimer.attention_maps import read_sentence, write_reading
    from latimer.checkpoint import load_model
    from latimer.screen import Screen

    screen = Screen()
    reading = read_sentence(load_model(checkpoint), sentence, target)
    screen.print(f"source           {reading.source}")
    screen.print(f"{'given target' if reading.given else 'translation':<17}{reading.target}")
    screen.print(f"log-probability  {reading.log_probability:.4f} nats")
    screen.print(f"page             {write_reading(reading, output)}")


@app.command()
def compare(runs: Annotated[list[Path], RUNS]) -> None:
    """Shows the settings in which runs differ, and their scores.

    The scores stand beside a paired test against the first run, on the same sentences.
    """
    from latimer.evaluation.compare import compare_runs
    from latimer.screen import Screen

    compare_runs(runs, Screen())


def main() -> None:
    """The command; a mistake of the user's ends in one message on stderr and exit code 1."""
    try:
        app()
    except LatimerError as error:
        sys.exit(f"error: {error}")
