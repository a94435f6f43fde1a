"""BPE-dropout: merges are left out at random (Provilkov et al., ACL 2020, algorithm 1)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import Self

from latimer.tokenizer.sentencepiece_model import Tokenizer

WORD_START = "▁"
CACHED_WORDS = 2**16


class BpeDropout:
    """Cuts text that was cut into pieces into other ones, by leaving out merges.

    A word begins as its characters. Of all merges of neighbours that the vocabulary has, each is
    left out with the given probability, the best of the others is done, and so on until none is
    left. What is no ordinary piece stays: unknown ones, bytes, and symbols that a user defined.

    It is done here and not by SentencePiece, whose random numbers are others in every process,
    whatever its seed.

    Args:
        tokenizer: of byte-pair encoding.
        probability: of leaving out a merge, from 0 (never) to 1 (always: characters).
    """

    def __init__(self, tokenizer: Tokenizer, probability: float) -> None:
        self._tokenizer, self._probability = tokenizer, probability
        by_rank = sorted(tokenizer.ordinary_pieces.items(), key=lambda piece: -piece[1][1])
        self._ids = {text: piece_id for text, (piece_id, _) in by_rank}
        self._texts = {piece_id: text for text, piece_id in self._ids.items()}
        self._by_rank = list(self._ids.values())
        self._ranks = {
            (self._ids[text[:cut]], self._ids[text[cut:]]): rank
            for rank, text in enumerate(self._ids)
            for cut in range(1, len(text))
            if text[:cut] in self._ids and text[cut:] in self._ids
        }
        self._characters = lru_cache(CACHED_WORDS)(self._take_apart)

    def cut(self, ids: Sequence[int], random: Random) -> list[int]:
        """Other pieces of the same text.

        Args:
            ids: the text as the tokenizer cuts it.
            random: what decides; it is moved on.
        """
        found: list[int] = []
        for word in self._words(ids):
            characters = self._characters(word)
            found += word if characters is None else self._merge(characters, random)
        return found

    def _words(self, ids: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Runs of ordinary pieces that begin with a space; everything else by itself."""
        word: list[int] = []
        for piece_id in ids:
            text = self._texts.get(piece_id)
            if word and (text is None or text.startswith(WORD_START)):
                yield tuple(word)
                word = []
            if text is None:
                yield (piece_id,)
            else:
                word.append(piece_id)
        if word:
            yield tuple(word)

    def _take_apart(self, word: tuple[int, ...]) -> list[int] | None:
        """The characters of a word; None if they can't be put together to the same pieces again."""
        try:
            characters = [self._ids[one] for piece in word for one in self._texts[piece]]
        except KeyError:
            return None
        return characters if tuple(self._merge(characters, None)) == word else None

    def _merge(self, characters: Sequence[int], random: Random | None) -> list[int]:
        """Merges neighbours, the best ones first; without dropout if without random numbers."""
        pieces = list(characters)
        worst = len(self._by_rank)
        while True:
            best, place = worst, 0
            for left, pair in enumerate(pairwise(pieces)):
                rank = self._ranks.get(pair, worst)
                if rank < best and (random is None or random.random() >= self._probability):
                    best, place = rank, left
            if best == worst:
                return pieces
            pieces[place : place + 2] = [self._by_rank[best]]

    def __reduce__(self) -> tuple[type[Self], tuple[Tokenizer, float]]:
        return type(self), (self._tokenizer, self._probability)
