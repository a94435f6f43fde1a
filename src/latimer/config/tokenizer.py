"""How text is cut into pieces."""

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from latimer.config.base import Section


class TokenizerConfig(Section):
    """The SentencePiece model: how it is trained, or the file to take instead.

    Attributes:
        vocabulary: one of both sides together (the paper, section 5.1), or one of each side.
        model_type: byte-pair encoding, or the unigram language model.
        vocab_size: pieces of a vocabulary, the four special ones included.
        character_coverage: the share of the training text's characters with a piece of their own.
        normalization: SentencePiece's rule for rewriting characters before cutting.
        byte_fallback: spell unknown characters by the bytes of their UTF-8.
        bpe_dropout: probability of leaving out a merge, anew in each epoch of the training split.
        file: a trained model for both sides; of the other keys, only bpe_dropout then
            has an effect.
    """

    vocabulary: Literal["joint", "separate"]
    model_type: Literal["bpe", "unigram"]
    vocab_size: int = Field(gt=4)
    character_coverage: float = Field(gt=0, le=1)
    normalization: Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"]
    byte_fallback: bool
    bpe_dropout: float = Field(ge=0, le=1)
    file: str | None

    @field_validator("bpe_dropout")
    @classmethod
    def _has_merges(cls, dropout: float, before: ValidationInfo) -> float:
        model_type = before.data.get("model_type")
        if dropout > 0 and model_type == "unigram":
            raise ValueError(
                f"leaves out merges, which model_type={model_type} has none of; write "
                "tokenizer.model_type=bpe, or tokenizer.bpe_dropout=0"
            )
        return dropout

    @field_validator("file")
    @classmethod
    def _is_of_both_sides(cls, file: str | None, before: ValidationInfo) -> str | None:
        if file is not None and before.data.get("vocabulary") == "separate":
            raise ValueError(
                "is one model for both sides; write tokenizer.vocabulary=joint, or "
                "tokenizer.file=null to train one of each side"
            )
        return file
