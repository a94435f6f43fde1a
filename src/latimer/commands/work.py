"""From chunks of lines to what is to be written about each of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from latimer.commands.answers import Answer, Candidate
from latimer.commands.prefixes import Prefixes
from latimer.decoding import Hypothesis
from latimer.errors import LatimerError
from latimer.translation import PrefixError, Translation, Translator
from latimer.translation.alignments import Aligner, PiecedText, in_pharaoh_format


class Work:
    """A translator at work, and what came of it so far.

    Args:
        translator: what translates.
        candidates: how many of a line's hypotheses are wanted.
        aligner: what aligns; None where nobody asks for alignments.
        prefixes: how the translations begin; None where nobody says so.

    Attributes:
        counts: the lines so far, and those of them that a person should know about.
    """

    def __init__(
        self,
        translator: Translator,
        candidates: int,
        aligner: Aligner | None,
        prefixes: Prefixes | None = None,
    ) -> None:
        self.translator = translator
        self.candidates = candidates
        self.aligner = aligner
        self.prefixes = prefixes
        self.counts: Counter[str] = Counter()

    def answers(self, chunks: Iterable[list[str]]) -> Iterator[list[Answer]]:
        """The answers of each chunk; nothing of it is kept for the next.

        Raises:
            LatimerError: there is not one prefix for each line, or one can't be written.
        """
        for lines in chunks:
            first = self.counts["lines"]
            translations = self._translate(lines)
            self._count(translations)
            yield [
                Answer(first + row, lines[row], candidates)
                for row, candidates in enumerate(self._candidates(lines, translations))
            ]
        if self.prefixes is not None:
            self.prefixes.check_end()

    def _translate(self, lines: Sequence[str]) -> list[Translation]:
        if self.prefixes is None:
            return self.translator.translations(lines)
        before = self.prefixes.taken
        begun = self.prefixes.take(len(lines))
        try:
            return self.translator.translations(lines, begun)
        except PrefixError as error:
            number = before + error.row + 1
            raise LatimerError(f"{self.prefixes.name}, line {number}: {error.reason}") from error

    def _candidates(
        self, lines: Sequence[str], translations: Sequence[Translation]
    ) -> list[list[Candidate]]:
        wanted = [translation.hypotheses[: self.candidates] for translation in translations]
        alignments = iter(self._align(lines, wanted))
        decode = self.translator.tokenizers.target.decode
        return [
            [Candidate(decode(each.ids), each, next(alignments)) for each in hypotheses]
            for hypotheses in wanted
        ]

    def _align(self, lines: Sequence[str], wanted: Sequence[Sequence[Hypothesis]]) -> Iterable[str]:
        """The alignments of all hypotheses of all lines, one after another."""
        if self.aligner is None:
            return repeat("")
        tokenizers, most = self.translator.tokenizers, self.translator.max_source_length
        sources = [PiecedText.read(line, tokenizers.source, most) for line in lines]
        pairs = [
            (source, PiecedText.written(hypothesis.ids, tokenizers.target))
            for source, hypotheses in zip(sources, wanted, strict=True)
            for hypothesis in hypotheses
        ]
        return map(in_pharaoh_format, self.aligner.align(pairs))

    def _count(self, translations: Sequence[Translation]) -> None:
        self.counts["lines"] += len(translations)
        for translation in translations:
            best = translation.hypotheses[0] if translation.hypotheses else None
            self.counts["blank"] += best is None
            self.counts["empty translations"] += best is not None and not translation.text.strip()
            self.counts["ended by the length limit"] += best is not None and not best.finished
            self.counts["cut sources"] += translation.cut
