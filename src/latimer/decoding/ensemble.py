"""Several models that translate as one."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from latimer.decoding.protocol import AttentiveModel, Cache, TranslationModel


class EnsembleCache:
    """The caches of all models, which go through the same steps."""

    def __init__(self, caches: Sequence[Cache]) -> None:
        self.caches = caches

    def reorder_beams(self, parents: Tensor) -> None:
        """As in every cache; ``parents`` is (B, K)."""
        for cache in self.caches:
            cache.reorder_beams(parents)

    def keep_sentences(self, sentences: Tensor) -> None:
        """As in every cache; ``sentences`` is (B',)."""
        for cache in self.caches:
            cache.keep_sentences(sentences)


class Ensemble:
    """The mean of the probabilities that several models give, at every step.

    Its logits are log-probabilities. The models may differ in everything but their vocabularies,
    whose ids must mean the same; that is the caller's to check.

    Args:
        models: at least one, in evaluation mode.

    Raises:
        ValueError: there is no model.
    """

    def __init__(self, models: Sequence[TranslationModel[Any]]) -> None:
        if not models:
            raise ValueError("an ensemble needs at least one model")
        self.models = tuple(models)

    def start(self, source: Tensor) -> EnsembleCache:
        """Has every model encode the source ids (B, S)."""
        return EnsembleCache([model.start(source) for model in self.models])

    def step(self, last_ids: Tensor, cache: EnsembleCache) -> Tensor:
        """The newest ids (B, K) of every beam to log-probabilities (B, K, V) of the next."""
        return _mean([model.step(last_ids, own) for model, own in self._each(cache)])

    def step_with_attention(self, last_ids: Tensor, cache: EnsembleCache) -> tuple[Tensor, Tensor]:
        """What :meth:`step` gives, and the mean of the models' weights (B, K, S).

        Raises:
            TypeError: a model can't tell its attention.
        """
        logits, weights = [], []
        for model, own in self._each(cache):
            if not isinstance(model, AttentiveModel):
                raise TypeError(f"{type(model).__name__} does not tell what it attends to")
            each = model.step_with_attention(last_ids, own)
            logits.append(each[0])
            weights.append(each[1])
        return _mean(logits), torch.stack(weights).mean(dim=0)

    def _each(self, cache: EnsembleCache) -> Iterable[tuple[TranslationModel[Any], Any]]:
        return zip(self.models, cache.caches, strict=True)


def _mean(logits: Sequence[Tensor]) -> Tensor:
    """The logarithm of the mean of the models' probabilities, from logits (B, K, V) of each."""
    log_probabilities = torch.stack([each.float().log_softmax(dim=-1) for each in logits])
    return log_probabilities.logsumexp(dim=0) - math.log(len(logits))
