"""Parts of a test set: groups of lines, single sentences and single words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from latimer.scoring.corpus_score import as_metric
from latimer.scoring.metrics import (
    LineCounts,
    check_counts,
    make_metrics,
    percent,
    remember_lines,
)
from latimer.scoring.paired import counts_of_lines, interval_of_difference
from latimer.scoring.scores import Metric


@dataclass(frozen=True)
class GroupScore:
    """Some lines of a test set.

    Attributes:
        bleu: of these lines as a corpus.
        chrf: chrF2++ of these lines as a corpus, in percent.
        length_ratio: words of the hypotheses / words of the references, as BLEU counts words.
        matching_four_grams: runs of four words that hypotheses share with their references; with
            none of them, BLEU says little.
    """

    bleu: Metric
    chrf: float
    length_ratio: float
    matching_four_grams: int


@dataclass(frozen=True, kw_only=True)
class PartScorer:
    """Scores parts of a test set as :func:`~latimer.scoring.score` scores all of it.

    Attributes:
        target_language: chooses how words are found.
        bleu_tokenizer: one of sacrebleu's instead of the language's own.
        lowercase: compare without regard to case.
        bootstrap: resamples behind the 95% intervals; 0 for none.
    """

    target_language: str
    bleu_tokenizer: str | None = None
    lowercase: bool = False
    bootstrap: int = 1000
    _known: tuple[LineCounts, LineCounts] = field(default_factory=lambda: ({}, {}), repr=False)

    def group(
        self, hypotheses: Sequence[str], references: Sequence[str], *, interval: bool
    ) -> GroupScore:
        """BLEU and chrF2++ of some lines; ``interval`` only where there are enough of them.

        Raises:
            LatimerError: unequal numbers of lines, no lines, or a tokenizer that is missing.
        """
        check_counts(hypotheses, references)
        bleu, chrf = self._metrics()
        resamples = self.bootstrap if interval else 0
        found = bleu.corpus_score(hypotheses, [references], n_bootstrap=max(resamples, 1))
        return GroupScore(
            bleu=as_metric(bleu, found),
            chrf=percent(chrf.corpus_score(hypotheses, [references]).score),
            length_ratio=found.ratio,
            matching_four_grams=found.counts[3],
        )

    def bleu(self, hypotheses: Sequence[str], references: Sequence[str]) -> float:
        """BLEU of some lines, from 0 to 100; errors as of :meth:`group`."""
        check_counts(hypotheses, references)
        bleu, _ = self._metrics()
        return percent(bleu.corpus_score(hypotheses, [references]).score)

    def difference(
        self, first: Sequence[str], other: Sequence[str], references: Sequence[str]
    ) -> tuple[float, float] | None:
        """The 95% interval of the other system's BLEU minus the first's, by paired bootstrap.

        None without bootstrap.

        Raises:
            LatimerError: unequal numbers of lines, no lines, or a tokenizer that is missing.
        """
        for hypotheses in (first, other):
            check_counts(hypotheses, references)
        bleu, _ = self._metrics()
        if not self.bootstrap:
            return None
        counts = [counts_of_lines(bleu, hypotheses, references) for hypotheses in (first, other)]
        return interval_of_difference(bleu, counts[0], counts[1], self.bootstrap)

    def sentences(self, hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
        """ChrF2++ of each sentence.

        Raises:
            LatimerError: unequal numbers of lines, or no lines.
        """
        check_counts(hypotheses, references)
        _, chrf = self._metrics()
        pairs = zip(hypotheses, references, strict=True)
        return [percent(chrf.sentence_score(text, [reference]).score) for text, reference in pairs]

    def words(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of each text, as BLEU finds and compares them."""
        bleu, _ = self._metrics()
        return [bleu._preprocess_segment(text).split() for text in texts]

    def _metrics(self) -> tuple[BLEU, CHRF]:
        bleu, chrf, _ = make_metrics(
            self.target_language, bleu_tokenizer=self.bleu_tokenizer, lowercase=self.lowercase
        )
        for metric, known in zip((bleu, chrf), self._known, strict=True):
            remember_lines(metric, known)
        return bleu, chrf
