"""All that is known once a test set has been translated and scored."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from latimer.scoring import Metric, Scores
from latimer.translation import Translation

PACKAGES = ("latimer", "torch", "sentencepiece", "sacrebleu")


@dataclass(frozen=True, kw_only=True)
class Result:
    """A test set, its translations and their scores.

    Attributes:
        test_set: its name.
        system: the name of what translated it.
        sources: the raw source lines.
        references: the raw reference lines, as many.
        translations: one for each source line, blank ones included.
        scores: BLEU, chrF2++ and TER of the translations.
        copy_bleu: BLEU of the source lines themselves, taken as translations.
        seconds: time for translating all of them.
        folder: where its files are.
        origin: what determines the translations and the scores: the hashes of the checkpoint and of
            the test set, how it was searched and how it was scored.
        about: what else a reader of the result wants to know.
    """

    test_set: str
    system: str = ""
    sources: Sequence[str]
    references: Sequence[str]
    translations: Sequence[Translation]
    scores: Scores
    copy_bleu: float
    seconds: float
    folder: Path
    origin: dict[str, Any]
    about: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        """The translations as text."""
        return [translation.text for translation in self.translations]

    def counts(self) -> dict[str, int]:
        """How many lines a reader should know about, by kind."""
        pairs = list(zip(self.sources, self.translations, strict=True))
        return {
            "blank_sources": sum(not t.hypotheses for _, t in pairs),
            "empty_translations": sum(bool(t.hypotheses) and not t.text.strip() for _, t in pairs),
            "ended_by_the_length_limit": sum(
                not t.hypotheses[0].finished for _, t in pairs if t.hypotheses
            ),
            "copies_of_the_source": sum(t.text == s.strip() != "" for s, t in pairs),
            "cut_sources": sum(t.cut for _, t in pairs),
        }

    def as_json(self) -> dict[str, Any]:
        """The content of ``result.json``; scores from 0 to 100."""
        metrics = (self.scores.bleu, self.scores.chrf, self.scores.ter)
        return {
            "test_set": self.test_set,
            "sentences": len(self.references),
            "scores": {metric.name: _metric_as_json(metric) for metric in metrics},
            "length_ratio": self.scores.length_ratio,
            "copy_bleu": self.copy_bleu,
            "notes": [*self.scores.notes],
            "counts": self.counts(),
            **self.origin,
            **self.about,
            "seconds": round(self.seconds, 3),
            "sentences_per_second": round(len(self.sources) / max(self.seconds, 1e-9), 2),
            "versions": {
                "python": platform.python_version(),
                **{package: version(package) for package in PACKAGES},
            },
        }


def _metric_as_json(metric: Metric) -> dict[str, Any]:
    values = asdict(metric)
    return {
        "score": values["score"],
        "confidence_95": values["confidence"],
        "signature": values["signature"],
    }
