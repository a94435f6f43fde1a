"""How far a model's word alignments are from those made by hand: the alignment error rate.

    python docs/alignment_error.py CHECKPOINT [GOLD]

has the model write the hand-aligned target of each sentence, and prints the error rate (Och and
Ney, 2003; in percent, 0 is best) of every decoder layer. docs/alignments.md explains the columns.
"""

import sys
from pathlib import Path

from latimer.checkpoint import LoadedModel, load_model
from latimer.data.lines import read_lines
from latimer.errors import LatimerError
from latimer.scoring.alignment_error import GoldAlignment, alignment_error_rate
from latimer.translation.alignments import Aligner, Link, PiecedText

GOLD = Path(__file__).parent / "alignments" / "enm-en.tsv"
Sentence = tuple[str, str, GoldAlignment]


def read_gold(path: Path) -> list[Sentence]:
    """Source, target and links of each sentence; lines that begin with # are comments."""
    rows = [line.split("\t") for line in read_lines(path) if not line.startswith("#")]
    return [(source, target, read_links(links)) for _, source, target, links in rows]


def read_links(written: str) -> GoldAlignment:
    """``3-1 4?1``: a sure link of source word 3 and target word 1, and a possible one."""
    links = {"-": set(), "?": set()}
    for link in written.split():
        kind = "?" if "?" in link else "-"
        source, target = link.split(kind)
        links[kind].add((int(source), int(target)))
    return GoldAlignment(sure=links["-"], possible=links["?"])


def error_rate(gold: list[Sentence], found: list[list[Link]]) -> str:
    """In percent."""
    rate = alignment_error_rate([wanted for *_, wanted in gold], map(set, found))
    return f"{100 * rate:5.1f}"


def diagonal(source: str, target: str) -> list[Link]:
    """Each word of the target with that at the same place of the source: what to be better than."""
    sources, targets = len(source.split()), len(target.split())
    return [(int((word + 0.5) * sources / targets), word) for word in range(targets)]


def show(loaded: LoadedModel, gold: list[Sentence]) -> None:
    """The table: a row for each layer, a column for each step that the weights are taken from."""
    pairs = [
        (
            PiecedText.read(source, loaded.tokenizers.source),
            PiecedText.read(target, loaded.tokenizers.target),
        )
        for source, target, _ in gold
    ]
    print(f"alignment error rate on {len(gold)} sentences, in percent")
    print("layer     writing  reading")
    for layer in range(1, loaded.model.hyperparameters["decoder_layers"] + 1):
        aligners = (Aligner(loaded.model, layer=layer, reading=step) for step in (False, True))
        writing, reading = (error_rate(gold, aligner.align(pairs)) for aligner in aligners)
        print(f"{layer:<9} {writing:>7}  {reading:>7}")
    print(f"diagonal  {error_rate(gold, [diagonal(*sentence[:2]) for sentence in gold]):>7}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        show(load_model(sys.argv[1]), read_gold(Path(sys.argv[2]) if sys.argv[2:] else GOLD))
    except LatimerError as error:
        sys.exit(f"error: {error}")
