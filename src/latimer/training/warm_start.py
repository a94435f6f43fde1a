"""A new run that begins with the weights of a checkpoint: all of them, or those that fit."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from latimer.checkpoint import LoadedModel, load_model
from latimer.config.run import RunConfig
from latimer.errors import LatimerError
from latimer.model import Transformer
from latimer.model.hyperparameters import DROPOUTS
from latimer.tokenizer import Tokenizer, Tokenizers
from latimer.training.taking import Taken, take_what_fits

Key = Literal["init_from", "init_from_partial"]


@dataclass(frozen=True)
class WarmStart:
    """The checkpoint that a new run begins with.

    Attributes:
        key: whether with all of its weights, or with those that fit.
        source: what the file holds.
    """

    key: Key
    source: LoadedModel

    @classmethod
    def find(cls, config: RunConfig) -> Self | None:
        """What a configuration asks for; None if the weights are to be random.

        Raises:
            LatimerError: it can't be read; or all of its weights are asked for, and languages,
                model or tokenizer are not the same.
        """
        if config.init_from is not None:
            start = cls("init_from", _load("init_from", config.init_from))
            start._require_the_same(config)
            return start
        if config.init_from_partial is not None:
            return cls("init_from_partial", _load("init_from_partial", config.init_from_partial))
        return None

    @property
    def tokenizers(self) -> Tokenizers | None:
        """Those that the corpus must be cut with; None if it may have its own."""
        return self.source.tokenizers if self.key == "init_from" else None

    def give(self, model: Transformer, tokenizers: Tokenizers, config: RunConfig) -> Taken:
        """Copies weights into the model of a run whose corpus was cut with the tokenizers.

        Raises:
            LatimerError: none of them fits.
        """
        taken, left = take_what_fits(model, tokenizers, self.source)
        if not taken:
            reasons = [f"{name}: {why}" for name, why in left.items()]
            raise LatimerError(
                f"{self.key}={self.source.path}: none of its weights fits this model; "
                f"{'; '.join(reasons[:3])}; ..."
            )
        source = self.source
        return Taken(
            key=self.key,
            checkpoint=str(source.path),
            sha256=source.sha256,
            updates=source.updates,
            taken=taken,
            left=left,
            other_there=[
                f"{key}={there} (here {here})" for key, here, there in self._others(config)
            ],
        )

    def _require_the_same(self, config: RunConfig) -> None:
        problems = [f"{key}={here}: it has {there}" for key, here, there in self._others(config)]
        problems += _other_tokenizer(config.tokenizer.file, self.source)
        if problems:
            heading = f"init_from={self.source.path}: the run can't begin with all of its weights:"
            advice = "write what it has, or init_from_partial=... for the weights that fit"
            raise LatimerError("\n  ".join([heading, *problems, advice]))

    def _others(self, config: RunConfig) -> Iterator[tuple[str, str, str]]:
        """Languages and hyper-parameters that differ: the key, the value here, the value there."""
        source, data = self.source, config.data
        here = {
            "data.source_language": data.source_language,
            "data.target_language": data.target_language,
            **_shaping(config.model.model_dump()),
        }
        there = {
            "data.source_language": source.source_language,
            "data.target_language": source.target_language,
            **_shaping(source.model.hyperparameters),
        }
        for key, value in here.items():
            if there[key] != value:
                yield key, _show(value), _show(there[key])


def stored_tokenizers(config: RunConfig, state: Path | None) -> Tokenizers | None:
    """Those of a run that goes on and got them from a checkpoint, which may be gone by now."""
    if state is None or config.init_from is None:
        return None
    return load_model(state).tokenizers


def _load(key: Key, path: str) -> LoadedModel:
    try:
        return load_model(path)
    except LatimerError as error:
        raise LatimerError(f"{key}: {error}") from error


def _show(value: Any) -> str:
    return "null" if value is None else str(value)


def _shaping(hyperparameters: dict[str, Any]) -> dict[str, Any]:
    """All but the dropouts, by their keys; with the widths of a head that follow from others."""
    each = hyperparameters["d_model"] // hyperparameters["heads"]
    widths = {name: hyperparameters[name] or each for name in ("d_k", "d_v")}
    return {
        f"model.{name}": value
        for name, value in {**hyperparameters, **widths}.items()
        if name not in DROPOUTS
    }


def _other_tokenizer(file: str | None, source: LoadedModel) -> Iterator[str]:
    """What a tokenizer of one's own says when it isn't the model's, which is used anyway."""
    given = Tokenizer.from_file(file) if file is not None else None
    for name, stored in source.tokenizers.named.items():
        if given is not None and given != stored:
            yield (
                f"tokenizer.file={file}: it has {given.vocab_size} pieces and the SHA-256 "
                f"{given.sha256}, but the {name.replace('_', ' ')} of the model has "
                f"{stored.vocab_size} and {stored.sha256}; tokenizer.file=null uses the model's"
            )
