"""The two calls that decoding needs of a model, so that a table of probabilities can stand in."""

from typing import Protocol, TypeVar, runtime_checkable

from torch import Tensor

CacheT = TypeVar("CacheT", bound="Cache")


class Cache(Protocol):
    """What a model keeps of a batch between two steps; both calls change it in place."""

    def reorder_beams(self, parents: Tensor, /) -> None:
        """Beam k of sentence b continues the old beam ``parents[b, k]``.

        Args:
            parents: (B, K) long; K may differ from the number of beams so far. Before the first
                step there is one beam a sentence.
        """

    def keep_sentences(self, sentences: Tensor, /) -> None:
        """Only these sentences (B',) go on, in this order; the others have ended."""


class TranslationModel(Protocol[CacheT]):
    """A model that is decoded step by step, in evaluation mode (no dropout)."""

    def start(self, source: Tensor, /) -> CacheT:
        """Encodes source ids (B, S), padded on the right."""

    def step(self, last_ids: Tensor, cache: CacheT, /) -> Tensor:
        """The newest ids (B, K) of every beam to logits (B, K, V) of the next."""


@runtime_checkable
class ParallelModel(TranslationModel[CacheT], Protocol[CacheT]):
    """A model that can also read a whole target at once, which only given targets allow."""

    def states(self, source: Tensor, target_input: Tensor, /) -> Tensor:
        """Source ids (B, S), and bos and the target (B, T), both padded: to states (B, T, D)."""

    def logits(self, states: Tensor, /) -> Tensor:
        """States (N, D) to logits (N, V) of what comes next."""


@runtime_checkable
class AttentiveModel(TranslationModel[CacheT], Protocol[CacheT]):
    """A model that can also tell where it looks; only a coverage penalty asks for that."""

    def step_with_attention(self, last_ids: Tensor, cache: CacheT, /) -> tuple[Tensor, Tensor]:
        """What :meth:`step` gives, and the weights (B, K, S) with which beams read the source."""
