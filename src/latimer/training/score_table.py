"""The validation scores of several checkpoints, side by side."""

from collections.abc import Mapping

from latimer.training import tags

COLUMNS = {
    tags.VAL_BLEU: ("BLEU", ".2f"),
    tags.VAL_CHRF: ("chrF2++", ".2f"),
    tags.VAL_NLL: ("nll", ".4f"),
    tags.VAL_PERPLEXITY: ("perplexity", ".2f"),
    tags.VAL_LENGTH_RATIO: ("length ratio", ".3f"),
}
HEADER = ("checkpoint", *(name for name, _ in COLUMNS.values()), "taken")


def score_rows(scores: Mapping[str, Mapping[str, float]], taken: str) -> list[list[str]]:
    """The rows below :data:`HEADER`.

    Args:
        scores: the values of all validation tags, by the name of the checkpoint.
        taken: the name of the one that the run is judged by.
    """
    return [
        [name, *_figures(values), "yes" if name == taken else ""] for name, values in scores.items()
    ]


def _figures(values: Mapping[str, float]) -> list[str]:
    return [format(values[tag], form) for tag, (_, form) in COLUMNS.items()]
