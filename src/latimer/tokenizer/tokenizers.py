"""The tokenizers of both sides: one and the same with a joint vocabulary, or one of each."""

from collections.abc import Mapping
from typing import NamedTuple, Self

from latimer.tokenizer.sentencepiece_model import Tokenizer

JOINT, SOURCE, TARGET = TOKENIZER_NAMES = ("tokenizer", "source_tokenizer", "target_tokenizer")
"""What tokenizers are called in files: there is the first one, or both others."""


class Tokenizers(NamedTuple):
    """What cuts sources, and what cuts targets and joins hypotheses."""

    source: Tokenizer
    target: Tokenizer

    @classmethod
    def joint(cls, tokenizer: Tokenizer) -> Self:
        """One vocabulary for both sides, as in the paper (section 5.1)."""
        return cls(tokenizer, tokenizer)

    @classmethod
    def from_named(cls, named: Mapping[str, Tokenizer]) -> Self:
        """The other way round than :attr:`named`."""
        if JOINT in named:
            return cls.joint(named[JOINT])
        return cls(named[SOURCE], named[TARGET])

    @property
    def named(self) -> dict[str, Tokenizer]:
        """Each different one by what it is called in files."""
        if self.source == self.target:
            return {JOINT: self.source}
        return {SOURCE: self.source, TARGET: self.target}

    @property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each different one, by names such as ``tokenizer_sha256``."""
        return {f"{name}_sha256": tokenizer.sha256 for name, tokenizer in self.named.items()}

    @property
    def vocab_sizes(self) -> dict[str, int]:
        """V of the source and V of the target, by the names that the model's arguments have."""
        return {
            "source_vocab_size": self.source.vocab_size,
            "target_vocab_size": self.target.vocab_size,
        }
