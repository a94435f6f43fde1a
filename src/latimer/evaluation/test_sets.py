"""Translating and scoring test sets: the same for ``evaluate.py`` and for the end of a training."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from datasets import Dataset

from latimer.checkpoint import LoadedModel
from latimer.config.decoding import AnyDecodingConfig
from latimer.data.corpus import fingerprint
from latimer.evaluation.files import REFERENCES, TRANSLATIONS, claim_folder, write_result
from latimer.evaluation.report import show_results
from latimer.evaluation.result import Result
from latimer.scoring import Scores, require_tokenizer, score
from latimer.screen import Screen
from latimer.translation import Translator, stored_search


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

    decoding: AnyDecodingConfig
    bootstrap: int = 1000
    bleu_tokenizer: str | None = None
    lowercase: bool = False
    device: str = "auto"


@dataclass(frozen=True)
class System:
    """What is evaluated.

    Attributes:
        name: what tables call it, where there are several.
        loaded: the model; it is moved to the device, and its weights stay as they are.
        settings: how it translates, and how its translations are scored.
        others: models that translate together with it, as an ensemble.
    """

    name: str
    loaded: LoadedModel
    settings: EvaluationSettings
    others: Sequence[LoadedModel] = ()


def evaluate_test_sets(
    loaded: LoadedModel,
    test_sets: Mapping[str, Dataset],
    settings: EvaluationSettings,
    *,
    folder: Path,
    screen: Screen,
) -> list[Result]:
    """:func:`evaluate_systems` for one model."""
    system = System(loaded.path.name, loaded, settings)
    return evaluate_systems([system], test_sets, folder=folder, screen=screen)


def evaluate_systems(
    systems: Sequence[System],
    test_sets: Mapping[str, Dataset],
    *,
    folder: Path,
    screen: Screen,
) -> list[Result]:
    """Translates and scores test sets, writes ``folder/<test set>/`` and shows a table of all.

    No line is dropped, whatever it holds: as many are scored as the references have.

    Args:
        systems: the models, each with its settings.
        test_sets: pairs by name, with the columns source and target.
        folder: the folder of all results.
        screen: where progress and the table are shown.

    Raises:
        LatimerError: the device, the tokenizer of the scores or the disk cannot be used.
    """
    evaluations = [_Evaluation(system, folder) for system in systems]
    results = []
    for name, pairs in test_sets.items():
        for evaluation in evaluations:
            what = f"{name}, {evaluation.system}" if len(evaluations) > 1 else name
            screen.print(f"translating {what}: {len(pairs):,} lines, {evaluation.described}")
            results.append(evaluation.result(name, pairs))
            write_result(results[-1])
    show_results(results, screen)
    return results


class _Evaluation:
    """One model, one search and one way of scoring, for every test set."""

    def __init__(self, system: System, folder: Path) -> None:
        self.system = system.name
        self.loaded = loaded = system.loaded
        self.settings = settings = system.settings
        self.folder = folder
        self.others = system.others
        self.translator = translator = Translator.from_loaded(
            loaded,
            stored_search({"decoding": settings.decoding.model_dump()}),
            others=system.others,
            device=settings.device,
            max_tokens=settings.decoding.max_tokens,
        )
        # Before anything is translated: a missing package must not cost a whole translation.
        words = require_tokenizer(loaded.target_language, settings.bleu_tokenizer)
        self.check = " ".join(
            ["sacrebleu", REFERENCES, "-i", TRANSLATIONS, "-tok", words]
            + ["-lc"] * settings.lowercase
        )
        self.device = str(translator.device)
        together = f"ensemble of {1 + len(self.others)}, " if self.others else ""
        self.described = f"{together}{translator.settings.described}, float32 on {self.device}"

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
            system=self.system,
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
            "ensemble_sha256": [other.sha256 for other in self.others] or None,
            "test_set_sha256": fingerprint(pairs),
            "decoding": {
                "method": self.translator.settings.method,
                **asdict(self.translator.settings),
            },
            "scoring": {
                "bootstrap": self.settings.bootstrap,
                "bleu_tokenizer": self.settings.bleu_tokenizer,
                "lowercase": self.settings.lowercase,
            },
        }

    def _about(self) -> dict[str, Any]:
        return {
            "checkpoint": str(self.loaded.path.absolute()),
            "ensemble": [str(other.path.absolute()) for other in self.others] or None,
            "updates": self.loaded.updates,
            **({"averaged": [*self.loaded.averaged]} if self.loaded.averaged else {}),
            "source_language": self.loaded.source_language,
            "target_language": self.loaded.target_language,
            **self.loaded.tokenizers.hashes,
            "check": self.check,
            "device": self.device,
            "precision": "float32",
            "max_tokens": self.translator.max_tokens,
        }
