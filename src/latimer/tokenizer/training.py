"""Learning a vocabulary of pieces from text."""

import re
from collections.abc import Iterable
from io import BytesIO

from sentencepiece import SentencePieceTrainer

from latimer.errors import LatimerError
from latimer.tokenizer.ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from latimer.tokenizer.sentencepiece_model import Tokenizer

# Fixed, and not "as many as there are": their number is part of the model and sways it.
THREADS = 4
# SentencePiece leaves out longer lines, by default those over 4,192 bytes, and tells nobody.
LONGEST_LINE = 2**30
ERRORS_ONLY = 2

NO_TEXT = re.compile(r"sentences_\.empty|all_chars_count")
TOO_LARGE = re.compile(r"Vocabulary size too high.*<= (\d+)")
TOO_SMALL = re.compile(r"smaller than required_chars. \d+ vs (\d+)")


def train_tokenizer(  # noqa: PLR0913 (SentencePiece's own settings, by name)
    lines: Iterable[str],
    *,
    vocab_size: int,
    model_type: str = "bpe",
    character_coverage: float = 1.0,
    normalization: str = "nmt_nfkc",
    byte_fallback: bool = False,
) -> Tokenizer:
    """Trains a SentencePiece model in memory; the same lines give the same bytes every time.

    Args:
        lines: raw text, both languages for a joint vocabulary; all of it is used.
        vocab_size: pieces, the four special ones included.
        model_type: "bpe" or "unigram".
        character_coverage: the share of the text's characters that get a piece of their own.
        normalization: SentencePiece's name of the rule that text is rewritten by first.
        byte_fallback: spell unknown characters by the bytes of their UTF-8, with 256 more pieces.

    Raises:
        LatimerError: there is no text, or it allows no vocabulary of that size.
    """
    model = BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            vocab_size=vocab_size,
            model_type=model_type,
            character_coverage=character_coverage,
            normalization_rule_name=normalization,
            byte_fallback=byte_fallback,
            pad_id=PAD_ID,
            unk_id=UNK_ID,
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            num_threads=THREADS,
            max_sentence_length=LONGEST_LINE,
            minloglevel=ERRORS_ONLY,
        )
    except RuntimeError as error:
        raise LatimerError(_explain(str(error), vocab_size, character_coverage)) from error
    return Tokenizer(model.getvalue())


def _explain(message: str, vocab_size: int, character_coverage: float) -> str:
    if NO_TEXT.search(message):
        return "the tokenizer can't be trained: the training split holds no text"
    if match := TOO_LARGE.search(message):
        return (
            f"tokenizer.vocab_size={vocab_size}: the training text has fewer different pieces; "
            f"write {match[1]} or less"
        )
    if match := TOO_SMALL.search(message):
        return (
            f"tokenizer.vocab_size={vocab_size}: the special pieces and single characters alone "
            f"are {match[1]}; write more than that, or a tokenizer.character_coverage below "
            f"{character_coverage}, which leaves the rarest characters unknown"
        )
    return f"the tokenizer can't be trained: {message}"
