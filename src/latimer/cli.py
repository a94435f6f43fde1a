"""The ``latimer`` command: what is done with trained models.

What a command needs is imported when it is called, so that help and mistakes show at once.
"""

# ruff: noqa: PLC0415
import sys
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from latimer.commands.ending import ending_quietly
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
    metavar="CHECKPOINT", help="A file, or a run's folder for the one it was judged by."
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
FILES = typer.Argument(
    metavar="FILE", help="Text files, plain or .gz; - or none at all is standard input."
)
ENSEMBLE = typer.Option(
    metavar="CHECKPOINT",
    help="One more that translates together with it, as often as needed: the mean of their "
    "probabilities decides. They need the same tokenizers.",
)
PREFIXES = typer.Option(
    metavar="FILE",
    help="How the translations begin: a line for each line of the input, an empty one for a free "
    "translation; plain or .gz.",
)
N_BEST = typer.Option(
    metavar="N", min=1, help="List the N best of each line: line number from 0 ||| translation."
)
SCORES = typer.Option("--scores", help="Scores too: with a tab before a text, else behind it.")
FORMAT = typer.Option("--format", help="jsonl: one JSON object for each line.")
BEAM_SIZE = typer.Option(metavar="K", help="Hypotheses followed at a time.")
LENGTH_PENALTY = typer.Option(metavar="ALPHA", help="A number, or average.")
MAX_TOKENS = typer.Option(metavar="N", help="Cells of a batch: sentences x longest x beam size.")
SETTINGS = typer.Option(
    "--set", metavar="KEY=VALUE", help="Any other key of conf/decoding, as often as needed."
)
CHUNK = typer.Option(
    metavar="LINES", min=1, help="Lines that are read before the first of them is answered."
)
DEVICE = typer.Option(metavar="NAME", help="auto, cpu, cuda, cuda:1, mps.")
FILE = typer.Option(metavar="FILE", help="Where to, instead of standard output; .gz compresses.")
ALIGNMENTS = typer.Option(
    metavar="FILE",
    help="Word alignments (0-0 1-2) go there, a line for each line of output; "
    "with --format jsonl they are in the JSON too, and - writes no file.",
)
ALIGNMENT_LAYER = typer.Option(
    metavar="N", help="The decoder layer that shows them; without it the last one."
)
FOLDER = typer.Argument(metavar="FOLDER", help="Where the files go.")
QUIET = typer.Option("--quiet", help="Neither progress nor summary on stderr.")


class TextFormat(StrEnum):
    """How ``latimer translate`` writes."""

    TEXT = "text"
    JSONL = "jsonl"


@app.command()
def translate(  # noqa: PLR0913
    checkpoint: Annotated[Path, CHECKPOINT],
    files: Annotated[list[Path] | None, FILES] = None,
    *,
    ensemble: Annotated[list[Path] | None, ENSEMBLE] = None,
    prefixes: Annotated[Path | None, PREFIXES] = None,
    n_best: Annotated[int | None, N_BEST] = None,
    scores: Annotated[bool, SCORES] = False,
    text_format: Annotated[TextFormat, FORMAT] = TextFormat.TEXT,
    beam_size: Annotated[int | None, BEAM_SIZE] = None,
    length_penalty: Annotated[str | None, LENGTH_PENALTY] = None,
    max_tokens: Annotated[int | None, MAX_TOKENS] = None,
    settings: Annotated[list[str] | None, SETTINGS] = None,
    chunk: Annotated[int, CHUNK] = 1000,
    device: Annotated[str, DEVICE] = "auto",
    output: Annotated[Path | None, FILE] = None,
    alignments: Annotated[Path | None, ALIGNMENTS] = None,
    alignment_layer: Annotated[int | None, ALIGNMENT_LAYER] = None,
    quiet: Annotated[bool, QUIET] = False,
) -> None:
    """Translates text: one line out for each line in, in order.

    The translations alone go to standard output. A blank line stays blank. A line gives the same
    translation wherever it stands; lines that arrive slowly are answered one by one.
    """
    with ending_quietly():
        from latimer.commands.answers import Format
        from latimer.commands.decoding import read_settings
        from latimer.commands.translate import Request
        from latimer.commands.translate import translate as run

        named = {
            "beam_size": beam_size,
            "length_penalty": length_penalty,
            "max_tokens": max_tokens,
        }
        given = [f"{key}={value}" for key, value in named.items() if value is not None]
        run(
            Request(
                checkpoint=checkpoint,
                ensemble=ensemble or [],
                files=files or [],
                prefixes=prefixes,
                changes=read_settings([*given, *(settings or [])]),
                n_best=n_best,
                written=Format(
                    json=text_format is TextFormat.JSONL,
                    all_candidates=n_best is not None,
                    scores=scores,
                    alignments=alignments is not None,
                ),
                output=output,
                alignments=alignments,
                alignment_layer=alignment_layer,
                chunk=chunk,
                device=device,
                quiet=quiet,
            )
        )


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


@app.command()
def export_tokenizer(
    checkpoint: Annotated[Path, CHECKPOINT], folder: Annotated[Path, FOLDER]
) -> None:
    """Writes the SentencePiece model of a checkpoint, for other programs to cut text as it does.

    With separate vocabularies there are two, one of each side.
    """
    from latimer.commands.tokenizer_files import export_tokenizer as run

    for path in run(checkpoint, folder):
        print(path)


def main() -> None:
    """The command; a mistake of the user's ends in one message on stderr and exit code 1."""
    if isinstance(sys.stderr, TextIOWrapper):  # whatever the locale; the rest is escaped
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app()
    except LatimerError as error:
        sys.exit(f"error: {error}")
