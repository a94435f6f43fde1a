"""Translating and scoring test sets: the same for ``evaluate.py`` and for the end of a training."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from datasets import Dataset

from latimer.checkpoint import LoadedModel
from latimer.config.decoding import DecodingConfig
from latimer.data.corpus import fingerprint
from latimer.decoding import SearchSettings
from latimer.evaluation.files import REFERENCES, TRANSLATIONS, claim_folder, write_result
from latimer.evaluation.report import show_results
from latimer.evaluation.result import Result
from latimer.scoring import Scores, require_tokenizer, score
from latimer.screen import Screen
from latimer.translation import Translator


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """How to translate and how to score.

    Attributes:
        decoding: the search.
        bootstrap: resamplings behind the 95% intervals; 0 for none.
        bleu_tokenizer: sacrebleu's tokenizer; None for the target language's.
        lowercase: whether the scores ignore case.
        device: where to translate.
    """

    decoding: DecodingConfig
    bootstrap: int = 1000
    bleu_tokenizer: str | None = None
    lowercase: bool = False
    device: str = "auto"


def evaluate_test_sets(
    loaded: LoadedModel,
    test_sets: Mapping[str, Dataset],
    settings: EvaluationSettings,
    *,
    folder: Path,
    screen: Screen,
) -> list[Result]:
    """Translates and scores test sets, writes ``folder/<test set>/`` and shows a table.

    No line is dropped, whatever it holds: as many are scored as the references have.

    Args:
        loaded: the model; it is moved to the device, and its weights stay as they are.
        test_sets: pairs by name, with the columns source and target.
        settings: how to translate and score.
        folder: the folder of all results.
        screen: where progress and the table are shown.

    Raises:
        LatimerError: the device, the tokenizer of the scores or the disk cannot be used.
    """
    search = SearchSettings(**settings.decoding.model_dump(exclude={"max_tokens"}))
    translator = Translator.from_loaded(
        loaded, search, device=settings.device, max_tokens=settings.decoding.max_tokens
    )
    evaluation = _Evaluation(loaded, translator, settings, folder)
    results = []
    for name, pairs in test_sets.items():
        screen.print(f"translating {name}: {len(pairs):,} lines, {evaluation.described}")
        results.append(evaluation.result(name, pairs))
        write_result(results[-1])
    show_results(results, screen)
    return results


class _Evaluation:
    """One model, one search and one way of scoring, for every test set."""

    def __init__(
        self,
        loaded: LoadedModel,
        translator: Translator,
        settings: EvaluationSettings,
        folder: Path,
    ) -> None:
        self.loaded = loaded
        self.translator = translator
        self.settings = settings
        self.folder = folder
        # Before anything is translated: a missing package must not cost a whole translation.
        words = require_tokenizer(loaded.target_language, settings.bleu_tokenizer)
        self.check = " ".join(
            ["sacrebleu", REFERENCES, "-i", TRANSLATIONS, "-tok", words]
            + ["-lc"] * settings.lowercase
        )
        self.device = str(next(translator.model.parameters()).device)
        self.described = (
            f"beam {translator.settings.beam_size}, "
            f"length penalty {translator.settings.length_penalty:g}, float32 on {self.device}"
        )

    def result(self, name: str, pairs: Dataset) -> Result:
        """Translates and scores one test set."""
        sources, references = list(pairs["source"]), list(pairs["target"])
        started = time.perf_counter()
        translations = self.translator.translations(sources)
        seconds = time.perf_counter() - started
        texts = [translation.text for translation in translations]
        origin = self._origin(pairs)
        return Result(
            test_set=name,
            sources=sources,
            references=references,
            translations=translations,
            scores=self._score(texts, references, bootstrap=self.settings.bootstrap),
            copy_bleu=self._score(sources, references, bootstrap=0).bleu.score,
            seconds=seconds,
            folder=claim_folder(self.folder, name, origin),
            origin=origin,
            about=self._about(),
        )

    def _score(self, texts: list[str], references: list[str], *, bootstrap: int) -> Scores:
        return score(
            texts,
            references,
            target_language=self.loaded.target_language,
            bootstrap=bootstrap,
            bleu_tokenizer=self.settings.bleu_tokenizer,
            lowercase=self.settings.lowercase,
        )

    def _origin(self, pairs: Dataset) -> dict[str, Any]:
        return {
            "checkpoint_sha256": self.loaded.sha256,
            "test_set_sha256": fingerprint(pairs),
            "decoding": asdict(self.translator.settings),
            "scoring": {
                "bootstrap": self.settings.bootstrap,
                "bleu_tokenizer": self.settings.bleu_tokenizer,
                "lowercase": self.settings.lowercase,
            },
        }

    def _about(self) -> dict[str, Any]:
        return {
            "checkpoint": str(self.loaded.path.absolute()),
            "updates": self.loaded.updates,
            "source_language": self.loaded.source_language,
            "target_language": self.loaded.target_language,
            **self.loaded.tokenizers.hashes,
            "check": self.check,
            "device": self.device,
            "precision": "float32",
            "max_tokens": self.translator.max_tokens,
        }
