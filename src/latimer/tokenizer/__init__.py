"""Text to the ids of pieces, and back: SentencePiece with special ids that are always the same."""

from latimer.tokenizer.bpe_dropout import BpeDropout
from latimer.tokenizer.ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from latimer.tokenizer.sentencepiece_model import Span, Tokenizer
from latimer.tokenizer.tokenizers import TOKENIZER_NAMES, Tokenizers
from latimer.tokenizer.training import train_tokenizer

__all__ = [
    "BOS_ID",
    "EOS_ID",
    "PAD_ID",
    "TOKENIZER_NAMES",
    "UNK_ID",
    "BpeDropout",
    "Span",
    "Tokenizer",
    "Tokenizers",
    "train_tokenizer",
]
