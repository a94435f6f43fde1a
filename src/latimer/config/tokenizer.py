"""How text is cut into pieces."""

from typing import Literal

from pydantic import Field

from latimer.config.base import Section


class TokenizerConfig(Section):
    """The SentencePiece model: how it is trained, or the file to take instead.

    Attributes:
        model_type: byte-pair encoding, or the unigram language model.
        vocab_size: pieces of the joint vocabulary, the four special ones included.
        character_coverage: the share of the training text's characters with a piece of their own.
        normalization: SentencePiece's rule for rewriting characters before cutting.
        byte_fallback: spell unknown characters by the bytes of their UTF-8.
        file: a trained model to use; the other keys are then without effect.
    """

    model_type: Literal["bpe", "unigram"]
    vocab_size: int = Field(gt=4)
    character_coverage: float = Field(gt=0, le=1)
    normalization: Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"]
    byte_fallback: bool
    file: str | None
