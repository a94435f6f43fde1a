"""What a page tells, before it is a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from latimer.reports.alignment import AlignmentView
from latimer.reports.greedy import GreedyComparison
from latimer.reports.groups import Group
from latimer.reports.rare_words import Recall
from latimer.reports.search_errors import SearchErrors
from latimer.scoring import Metric, PairedScore
from latimer.translation import Translation


@dataclass(frozen=True, kw_only=True)
class SystemReport:
    """One system on the test set.

    Attributes:
        name: another one for each system of a page.
        terms: what it is and how it translated, in words, by what each is called.
        metrics: of all its translations, by what each is called.
        length_ratio: words of the translations / words of the references.
        copy_bleu: BLEU of the sources themselves, taken as translations.
        seconds: time for translating all lines.
        counts: how many lines a reader should know about, by kind.
        notes: what a reader of the scores should know; often nothing.
        doubts: why a reader might not trust the result; often none.
        translations: one a line.
        sentence_scores: chrF2++ of each line.
        search_errors: None for a way of decoding that has none.
        greedy: None where the search is greedy, or no search.
        alignments: None for an ensemble.
    """

    name: str
    terms: Mapping[str, str]
    metrics: Mapping[str, Metric]
    length_ratio: float
    copy_bleu: float
    seconds: float
    counts: Mapping[str, int]
    notes: Sequence[str]
    doubts: Sequence[str]
    translations: Sequence[Translation]
    sentence_scores: Sequence[float]
    search_errors: SearchErrors | None
    greedy: GreedyComparison | None
    alignments: Sequence[AlignmentView] | None

    @property
    def texts(self) -> list[str]:
        """The translations as text."""
        return [translation.text for translation in self.translations]


@dataclass(frozen=True, kw_only=True)
class Report:
    """A test set and all systems that translated it.

    Attributes:
        test_set: its name.
        source_language: what it is translated from.
        target_language: what it is translated to.
        sources: the raw source lines.
        references: the raw reference lines, as many.
        systems: one or more, the first of which the others face.
        compared: for each metric one entry a system; empty for one system.
        lengths: the groups by source length.
        rarity: the groups by pieces per word of the source.
        recall: of the references' words, by their pieces.
    """

    test_set: str
    source_language: str
    target_language: str
    sources: Sequence[str]
    references: Sequence[str]
    systems: Sequence[SystemReport]
    compared: Sequence[Sequence[PairedScore]]
    lengths: Sequence[Group]
    rarity: Sequence[Group]
    recall: Sequence[Recall]
