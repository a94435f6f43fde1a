"""One system and the way that it is scored: a test set in, a result out."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from datasets import Dataset

from latimer.checkpoint import LoadedModel
from latimer.config.decoding import AnyDecodingConfig
from latimer.data.corpus import fingerprint
from latimer.evaluation.comet import Comet
from latimer.evaluation.counts import count_unknown
from latimer.evaluation.files import REFERENCES, TRANSLATIONS, claim_folder
from latimer.evaluation.result import Result
from latimer.scoring import Metric, bleu_score, require_tokenizer, score
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
        folder: the folder of all of its results.
        others: models that translate together with it, as an ensemble.
    """

    name: str
    loaded: LoadedModel
    settings: EvaluationSettings
    folder: Path
    others: Sequence[LoadedModel] = ()


class Evaluation:
    """One model, one search and one way of scoring, for every test set.

    Args:
        system: what is evaluated.
        comet: a model that scores as well, if any.

    Raises:
        LatimerError: the device or the tokenizer of the scores cannot be used.
    """

    def __init__(self, system: System, comet: Comet | None = None) -> None:
        self.system = system
        self.loaded = loaded = system.loaded
        self.settings = settings = system.settings
        self.comet = comet
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
        together = f"ensemble of {1 + len(system.others)}, " if system.others else ""
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
            system=self.system.name,
            sources=sources,
            references=references,
            translations=translations,
            scores=score(texts, references, **self._scoring(), bootstrap=self.settings.bootstrap),
            comet=self._comet(sources, texts, references),
            copy_bleu=bleu_score(sources, references, **self._scoring()),
            unknown_sources=count_unknown(sources, self.loaded.tokenizers.source),
            seconds=seconds,
            folder=claim_folder(self.system.folder, name, origin),
            origin=origin,
            about=self._about(),
        )

    def _scoring(self) -> dict[str, Any]:
        """How words are found and compared."""
        return {
            "target_language": self.loaded.target_language,
            "bleu_tokenizer": self.settings.bleu_tokenizer,
            "lowercase": self.settings.lowercase,
        }

    def _comet(self, sources: list[str], texts: list[str], references: list[str]) -> Metric | None:
        if self.comet is None:
            return None
        return self.comet.score(
            sources,
            texts,
            references,
            device=self.translator.device,
            bootstrap=self.settings.bootstrap,
        )

    def _origin(self, pairs: Dataset) -> dict[str, Any]:
        others = self.system.others
        return {
            "checkpoint_sha256": self.loaded.sha256,
            "ensemble_sha256": [other.sha256 for other in others] or None,
            "test_set_sha256": fingerprint(pairs),
            "decoding": {
                "method": self.translator.settings.method,
                **asdict(self.translator.settings),
            },
            "scoring": {
                "bootstrap": self.settings.bootstrap,
                "bleu_tokenizer": self.settings.bleu_tokenizer,
                "lowercase": self.settings.lowercase,
                **({"comet_sha256": self.comet.sha256} if self.comet else {}),
            },
        }

    def _about(self) -> dict[str, Any]:
        others = self.system.others
        return {
            "checkpoint": str(self.loaded.path.absolute()),
            "ensemble": [str(other.path.absolute()) for other in others] or None,
            "updates": self.loaded.updates,
            **({"averaged": [*self.loaded.averaged]} if self.loaded.averaged else {}),
            "source_language": self.loaded.source_language,
            "target_language": self.loaded.target_language,
            **self.loaded.tokenizers.hashes,
            "check": self.check,
            "date": datetime.now().astimezone().isoformat(timespec="seconds"),
            "device": self.device,
            "precision": "float32",
            "max_tokens": self.translator.max_tokens,
        }
