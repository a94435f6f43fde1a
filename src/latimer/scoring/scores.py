"""What scoring a test set gives."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One figure, with what is needed to compare it with another paper's.

    Attributes:
        name: as sacrebleu writes it: "BLEU", "chrF2++" or "TER".
        score: percent; 100.0 is a perfect match for BLEU and chrF, 0.0 for TER.
        signature: sacrebleu's, which names its version and every setting.
        confidence: low and high end of the 95% interval; None without bootstrap.
    """

    name: str
    score: float
    signature: str
    confidence: tuple[float, float] | None


@dataclass(frozen=True)
class Scores:
    """The figures of one test set.

    Attributes:
        bleu: BLEU of the whole corpus.
        chrf: chrF2++ of the whole corpus.
        ter: translation edit rate, lower is better.
        n: sentences scored.
        length_ratio: words of the hypotheses / words of the references, as BLEU counts words.
        notes: what a reader of the figures should know; often nothing.
    """

    bleu: Metric
    chrf: Metric
    ter: Metric
    n: int
    length_ratio: float
    notes: tuple[str, ...]
