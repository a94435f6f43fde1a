"""What a reader of a test set's figures should know about how far to trust them."""

from collections.abc import Sequence

MOST = 0.9  # of the lines; a full stop behind a blank now and then is the author's own


def notes_on(hypotheses: Sequence[str], *, matching_four_grams: int) -> tuple[str, ...]:
    """The notes that apply, often none.

    Args:
        hypotheses: the texts that were scored.
        matching_four_grams: how many runs of four words they share with their references.
    """
    notes = []
    if matching_four_grams == 0:
        notes.append("no matching 4-grams: BLEU says little here, chrF2++ says more")
    tokenised = sum(hypothesis.endswith(" .") for hypothesis in hypotheses)
    if tokenised >= MOST * len(hypotheses):
        notes.append(
            f"{tokenised:,} hypotheses end in ' .', as tokenised text does: only scores of "
            "detokenised text can be compared with those of others"
        )
    return tuple(notes)
