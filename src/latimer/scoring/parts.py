"""Parts of a test set: groups of lines, single sentences and single words."""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from latimer.scoring.corpus_score import as_metric
from latimer.scoring.metrics import check_counts, make_metrics, percent
from latimer.scoring.paired import counts_of_lines, interval_of_difference
from latimer.scoring.scores import Metric
from latimer.scoring.sentences import SentenceMetric


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
        metric = SentenceMetric("chrf", self.target_language)
        return metric.scores(*(self._in_case(texts) for texts in (hypotheses, references)))

    def words(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of each text, as BLEU finds and compares them."""
        bleu, _ = self._metrics()
        return [bleu._preprocess_segment(text).split() for text in texts]

    def _metrics(self) -> tuple[BLEU, CHRF]:
        bleu, chrf, _ = make_metrics(
            self.target_language, bleu_tokenizer=self.bleu_tokenizer, lowercase=self.lowercase
        )
        return bleu, chrf

    def _in_case(self, texts: Sequence[str]) -> Sequence[str]:
        return [text.lower() for text in texts] if self.lowercase else texts
