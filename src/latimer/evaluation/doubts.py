"""What should make a reader doubt a result before they believe it."""

from collections.abc import Sequence

from latimer.evaluation.result import Result

MANY = 100
"""Lines from which on a BLEU of exactly 0 is no accident."""

NO_BLEU = (
    "BLEU is exactly 0 on {lines:,} lines. Likely causes: too few updates, or a training that "
    "diverged (look at the translations); source and reference lines that do not belong together; "
    "a target language without spaces (bleu_tokenizer=zh, ja-mecab, char, ...)"
)
SAME_FOR_ALL = (
    "{outputs:,} different translations of {inputs:,} different sources: the model hardly looks at "
    "the source, as after too few updates or with too high a learning rate"
)
NO_BETTER = "copying the source scores {copy:.2f} BLEU, no less than these translations"


def doubt_sameness(sources: Sequence[str], texts: Sequence[str]) -> list[str]:
    """A warning if nearly all sources were given the same translation."""
    inputs = len({source for source in sources if source.strip()})
    outputs = len({text for text in texts if text})
    return [SAME_FOR_ALL.format(outputs=outputs, inputs=inputs)] if outputs < 0.1 * inputs else []


def doubts(result: Result) -> list[str]:
    """Warnings about a result; none about most."""
    bleu = result.scores.bleu.score
    warnings = doubt_sameness(result.sources, result.texts)
    if bleu == 0 and len(result.references) > MANY:
        warnings.append(NO_BLEU.format(lines=len(result.references)))
    if bleu <= result.copy_bleu and bleu < 100:
        warnings.append(NO_BETTER.format(copy=result.copy_bleu))
    return warnings
