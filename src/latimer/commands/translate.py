"""``latimer translate``: one line out for each line in, in order, in bounded memory."""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from latimer.checkpoint import load_model
from latimer.commands.answers import Format
from latimer.commands.decoding import make_translator
from latimer.commands.output import Output, open_output
from latimer.commands.prefixes import Prefixes
from latimer.commands.progress import no_progress_bar, progress_bar
from latimer.commands.work import Work
from latimer.data.chunks import LineInput
from latimer.errors import LatimerError
from latimer.memory import keep_freed_memory
from latimer.translation import require_different
from latimer.translation.alignments import Aligner

HERE = Path("-")
"""As an input or the output: the standard one. For the alignments: in the output itself."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a person asks for.

    Attributes:
        checkpoint: a file, or a run's folder.
        ensemble: further checkpoints that translate together with it.
        files: text files, plain or ``.gz``; ``-`` is standard input.
        prefixes: one more, whose lines the translations begin with; None for none.
        changes: keys of ``decoding`` that differ from the run's.
        n_best: hypotheses listed of a line; None for the best alone.
        written: what is written of them.
        output: the file; None for standard output.
        alignments: the file of the alignments, ``-`` for the output itself, None for none.
        alignment_layer: the decoder layer that they are read from; None for the usual one.
        chunk: lines that are read before the first of them is answered.
        device: where to translate.
        quiet: show neither a bar nor a summary.
    """

    checkpoint: Path
    ensemble: Sequence[Path]
    files: Sequence[Path]
    prefixes: Path | None
    changes: Mapping[str, Any]
    n_best: int | None
    written: Format
    output: Path | None
    alignments: Path | None
    alignment_layer: int | None
    chunk: int
    device: str
    quiet: bool


def translate(request: Request) -> None:
    """Translates all inputs, in their order, and writes what was asked for.

    Raises:
        LatimerError: what was asked for is not possible, which is found before a line is read; or
            an input is no text, or a disk is full: then what is on standard output stays there.
    """
    inputs = [LineInput(_named(path)) for path in _inputs(request)]
    _check_files(request)
    prefixes = _open_prefixes(request)
    keep_freed_memory()
    work = _prepare(request, prefixes)
    started = time.perf_counter()
    bar = progress_bar if shows_bar(request) else no_progress_bar
    with _open_outputs(request) as (output, beside), bar(inputs) as advance:
        for answers in work.answers(
            chunk for each in inputs for chunk in each.chunks(request.chunk)
        ):
            output.write(line for each in answers for line in request.written.lines(each))
            if beside:
                beside.write(
                    line for each in answers for line in request.written.lines_beside(each)
                )
            advance(work.counts["lines"])
    if not request.quiet:
        print(_summary(work.counts, time.perf_counter() - started), file=sys.stderr)


def shows_bar(request: Request) -> bool:
    """Whether there is somebody to see it, and no text on the terminal that it would run into."""
    reads_along = request.output in (None, HERE) and _is_terminal(sys.stdout)
    return _is_terminal(sys.stderr) and not (request.quiet or reads_along or _is_typed(request))


def _check_files(request: Request) -> None:
    """No file is written to that is read from, or twice."""
    if request.alignments == HERE and not request.written.json:
        raise LatimerError("--alignments -: text has no place for them; add --format jsonl")
    read = [*request.files, request.prefixes]
    used = {path.resolve() for path in read if path not in (None, HERE)}
    for option in ("output", "alignments"):
        path: Path | None = getattr(request, option)
        if path is not None and path != HERE:
            if path.resolve() in used and (path.is_file() or not path.exists()):
                raise LatimerError(
                    f"--{option} {path}: is read from or written to as well; name another file"
                )
            used.add(path.resolve())


def _open_prefixes(request: Request) -> Prefixes | None:
    """The prefixes, as many as lines, as far as that can be told before these are translated."""
    if request.prefixes is None:
        return None
    inputs = _inputs(request)
    if request.prefixes == HERE and HERE in inputs:
        raise LatimerError("--prefixes -: standard input holds the lines already; name a file")
    prefixes = Prefixes(_named(request.prefixes), request.chunk)
    if HERE not in inputs:
        prefixes.check_count(inputs)
    return prefixes


def _prepare(request: Request, prefixes: Prefixes | None) -> Work:
    if request.ensemble and request.alignments is not None:
        raise LatimerError(
            "--alignments: the attention of an ensemble is that of several models; "
            "leave --ensemble away"
        )
    loaded, *others = [load_model(path) for path in (request.checkpoint, *request.ensemble)]
    require_different([loaded, *others])
    translator = make_translator(
        loaded, others, changes=request.changes, n_best=request.n_best, device=request.device
    )
    aligner = None
    if request.alignments is not None:
        aligner = Aligner(loaded.model, layer=request.alignment_layer)
    elif request.alignment_layer is not None:
        raise LatimerError("--alignment-layer: there are no alignments; add --alignments FILE")
    if _is_typed(request) and not request.quiet:
        pair = f"{loaded.source_language} → {loaded.target_language}"
        print(f"{pair}: each line is answered; Ctrl-D ends", file=sys.stderr)
    return Work(translator, request.n_best or 1, aligner, prefixes)


@contextmanager
def _open_outputs(request: Request) -> Iterator[tuple[Output, Output | None]]:
    with open_output(None if request.output == HERE else request.output) as output:
        if request.alignments in (None, HERE):
            yield output, None
        else:
            with open_output(request.alignments) as beside:
                yield output, beside


def _inputs(request: Request) -> Sequence[Path]:
    return request.files or [HERE]


def _named(path: Path) -> Path | None:
    """The path of a file; None for standard input."""
    return None if path == HERE else path


def _is_terminal(stream: TextIO | None) -> bool:
    # A standard stream that is closed is None.
    return stream is not None and stream.isatty()


def _is_typed(request: Request) -> bool:
    return HERE in _inputs(request) and _is_terminal(sys.stdin)


def _summary(counts: Counter[str], seconds: float) -> str:
    lines = counts["lines"]
    notes = [f"{counts[what]:,} {what}" for what in counts if what != "lines" and counts[what]]
    what = "line" if lines == 1 else "lines"
    speed = f"{lines:,} {what} in {seconds:,.1f} s, {lines / max(seconds, 1e-9):,.1f} lines/s"
    return ", ".join([speed, *notes])
