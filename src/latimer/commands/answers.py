"""How a translation is written: as lines of text, or as JSON."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from latimer.decoding import Hypothesis

BAR = " ||| "
# What stands for itself was not chosen among others: probability 1.
BLANK = Hypothesis(ids=(), log_probability=0.0, score=0.0, finished=True)


class Candidate(NamedTuple):
    """One translation of a line.

    Attributes:
        text: raw text, one line.
        hypothesis: what the model thinks of it.
        alignment: in Pharaoh's format; empty where nobody asked.
    """

    text: str
    hypothesis: Hypothesis
    alignment: str = ""


@dataclass(frozen=True)
class Answer:
    """What is written about one line of the input.

    Attributes:
        index: of the line, counted from 0 through all inputs.
        source: the line.
        candidates: its translations, the best first; none for a blank line.
    """

    index: int
    source: str
    candidates: Sequence[Candidate]

    @property
    def shown(self) -> Sequence[Candidate]:
        """The candidates, or the blank one of a blank line."""
        return self.candidates or [Candidate("", BLANK)]


@dataclass(frozen=True)
class Format:
    """What is written of an answer.

    Attributes:
        json: one JSON object a line of input, and not text.
        all_candidates: an n-best list, and not the best one alone.
        scores: the scores too.
        alignments: the alignments too, in JSON; those of text go beside it.
    """

    json: bool = False
    all_candidates: bool = False
    scores: bool = False
    alignments: bool = False

    def lines(self, answer: Answer) -> list[str]:
        """The lines of an answer."""
        if self.json:
            return [json.dumps(self._record(answer), ensure_ascii=False)]
        if self.all_candidates:
            return [self._listed(answer.index, each) for each in answer.shown]
        best = answer.shown[0]
        return [f"{best.hypothesis.score:.4f}\t{best.text}" if self.scores else best.text]

    def lines_beside(self, answer: Answer) -> list[str]:
        """The alignments that belong to :meth:`lines`, one for each of them."""
        many = self.all_candidates and not self.json
        candidates = answer.shown if many else answer.shown[:1]
        return [each.alignment for each in candidates]

    def _listed(self, index: int, candidate: Candidate) -> str:
        scores = [f"{candidate.hypothesis.score:.4f}"] if self.scores else []
        return BAR.join([str(index), candidate.text, *scores])

    def _record(self, answer: Answer) -> dict[str, Any]:
        record = {
            "index": answer.index,
            "source": answer.source,
            **self._described(answer.shown[0]),
        }
        if self.all_candidates:
            record["hypotheses"] = [self._described(each) for each in answer.candidates]
        return record

    def _described(self, candidate: Candidate) -> dict[str, Any]:
        described: dict[str, Any] = {"translation": candidate.text}
        if self.scores:
            hypothesis = candidate.hypothesis
            described["score"] = hypothesis.score
            described["log_probability"] = hypothesis.log_probability
            described["finished"] = hypothesis.finished
        if self.alignments:
            described["alignment"] = candidate.alignment
        return described
