"""All that is known once a test set has been translated and scored."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from latimer.evaluation.comet import SCALED
from latimer.evaluation.counts import count_lines
from latimer.evaluation.labels import label_notes
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
        comet: COMET of the translations, if a model of it was there.
        copy_bleu: BLEU of the source lines themselves, taken as translations.
        unknown_sources: how many sources have characters that the tokenizer does not know.
        seconds: time for translating all of them.
        folder: where its files are.
        origin: what determines the translations and the scores: the hashes of the checkpoint and of
            the test set, how it was searched and how it was scored.
        about: what else a reader of the result wants to know.
        compared_with: which system this one was tested against, and what came out; None if it
            was not tested.
    """

    test_set: str
    system: str = ""
    sources: Sequence[str]
    references: Sequence[str]
    translations: Sequence[Translation]
    scores: Scores
    comet: Metric | None = None
    copy_bleu: float
    unknown_sources: int = 0
    seconds: float
    folder: Path
    origin: dict[str, Any]
    about: dict[str, Any]
    compared_with: dict[str, Any] | None = None

    @property
    def texts(self) -> list[str]:
        """The translations as text."""
        return [translation.text for translation in self.translations]

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores should know; often nothing."""
        scaled = [SCALED] if self.comet else []
        return [*label_notes(self.scores.bleu), *self.scores.notes, *scaled]

    def counts(self) -> dict[str, int]:
        """How many lines a reader should know about, by kind."""
        counted = count_lines(self.sources, self.references, self.translations)
        return {**counted, "sources_with_unknown_characters": self.unknown_sources}

    def as_json(self) -> dict[str, Any]:
        """The content of ``result.json``; scores from 0 to 100."""
        metrics = [self.scores.bleu, self.scores.chrf, self.scores.ter]
        metrics += [self.comet] if self.comet else []
        return {
            "test_set": self.test_set,
            "sentences": len(self.references),
            "scores": {metric.name: _metric_as_json(metric) for metric in metrics},
            "length_ratio": self.scores.length_ratio,
            "copy_bleu": self.copy_bleu,
            "notes": self.notes,
            "counts": self.counts(),
            **self.origin,
            **self.about,
            "compared_with": [self.compared_with] if self.compared_with else [],
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
