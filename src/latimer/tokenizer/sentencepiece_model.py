"""A trained SentencePiece model: text in, ids out, and the reverse."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from sentencepiece import SentencePieceProcessor

from latimer.errors import LatimerError
from latimer.tokenizer.ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID

# A hypothesis is one line of a file, whatever bytes a model with byte fallback strings together.
LINE_ENDS = str.maketrans("\n\r", "  ")

Span = tuple[int, int]
"""A slice of a text, in characters: the first one, and the one after the last."""


class Tokenizer:
    """Cuts raw text into pieces and joins pieces into raw text.

    Two tokenizers are equal when their models are, byte for byte. One can be pickled, so that it
    reaches worker processes however they are started.

    Args:
        model_bytes: the contents of a SentencePiece model file.

    Attributes:
        model_bytes: likewise; all that a checkpoint must keep.
        sha256: their hash, in hexadecimal digits.

    Raises:
        LatimerError: the bytes are no model, or its special ids aren't pad 0, unk 1, bos 2, eos 3.
    """

    def __init__(self, model_bytes: bytes) -> None:
        self.model_bytes = model_bytes
        self.sha256 = hashlib.sha256(model_bytes).hexdigest()
        self._processor = _load(model_bytes)
        _check_special_ids(self._processor)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Reads a SentencePiece model from a file.

        Raises:
            LatimerError: the file can't be read, or doesn't hold a model that can be used.
        """
        try:
            return cls(Path(path).read_bytes())
        except OSError as error:
            raise LatimerError(
                f"tokenizer.file={path}: can't be read ({error.strerror})"
            ) from error
        except LatimerError as error:
            raise LatimerError(f"tokenizer.file={path}: {error}") from error

    @property
    def vocab_size(self) -> int:
        """How many pieces there are, the four special ones included; every id is smaller."""
        return int(self._processor.vocab_size())

    def encode(self, text: str) -> list[int]:
        """The ids of a line's pieces, without begin and end of sentence."""
        ids: list[int] = self._processor.encode(text)
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each line's pieces; faster than one by one."""
        ids: list[list[int]] = self._processor.encode(list(texts))
        return ids

    @property
    def has_merges(self) -> bool:
        """Whether it is a model of byte-pair encoding, and BPE-dropout has something to drop."""
        protocol, model = self._protocol()
        return bool(model.trainer_spec.model_type == protocol.TrainerSpec.BPE)

    @property
    def ordinary_pieces(self) -> dict[str, tuple[int, float]]:
        """Ids and scores of the pieces, without special ones, bytes and symbols of a user's."""
        protocol, model = self._protocol()
        return {
            one.piece: (piece_id, one.score)
            for piece_id, one in enumerate(model.pieces)
            if one.type == protocol.ModelProto.SentencePiece.NORMAL
        }

    def _protocol(self) -> tuple[Any, Any]:
        """The classes of protocol buffers, and the model as one of them."""
        # Only where it is needed: reading text takes no protocol buffers.
        from sentencepiece import sentencepiece_model_pb2 as protocol  # noqa: PLC0415

        return protocol, protocol.ModelProto.FromString(self.model_bytes)  # type: ignore[attr-defined]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some pieces, always one line.

        Special ids become nothing: so a text never holds a mark such as ``<unk>`` in place of
        something that could not be translated.

        Raises:
            IndexError: an id is negative, or not smaller than ``vocab_size``.
        """
        text: str = self._processor.decode([int(piece) for piece in ids if piece != UNK_ID])
        return text.translate(LINE_ENDS)

    def spans(self, text: str) -> list[Span]:
        """What each piece of :meth:`encode` was made of: ``text[first:end]``.

        The slice is empty where no character is left for a piece, as for a ▁ that the beginning of
        a line gets, or for all but the last of the bytes that spell one.
        """
        return _spans(text, self._processor.encode(text, out_type="serialized_proto"))

    def decoded_spans(self, ids: Sequence[int]) -> list[Span]:
        """Where the text of each piece stands in that of :meth:`decode`, likewise.

        Args:
            ids: none of them unknown.
        """
        ids = [int(piece) for piece in ids]
        decoded = self._processor.decode(ids, out_type="serialized_proto")
        return _spans(self._processor.decode(ids), decoded)

    def piece(self, piece_id: int) -> str:
        """The spelling of a piece; ``▁`` stands for a space."""
        return str(self._processor.id_to_piece(piece_id))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> tuple[type[Self], tuple[bytes]]:
        return type(self), (self.model_bytes,)


def _spans(text: str, serialized: bytes) -> list[Span]:
    """SentencePiece counts in bytes of UTF-8, we in characters."""
    # Only where it is needed: reading text takes no protocol buffers.
    from sentencepiece import sentencepiece_pb2 as protocol  # noqa: PLC0415

    pieces = protocol.SentencePieceText.FromString(serialized).pieces  # type: ignore[attr-defined]
    encoded = text.encode("utf-8")
    return [
        (len(encoded[: piece.begin].decode("utf-8")), len(encoded[: piece.end].decode("utf-8")))
        for piece in pieces
    ]


def _load(model_bytes: bytes) -> SentencePieceProcessor:
    processor = SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model_bytes)
    except RuntimeError as error:
        raise LatimerError("this is not a SentencePiece model") from error
    return processor


def _check_special_ids(processor: SentencePieceProcessor) -> None:
    found = {
        "pad_id": processor.pad_id(),
        "unk_id": processor.unk_id(),
        "bos_id": processor.bos_id(),
        "eos_id": processor.eos_id(),
    }
    wanted = {"pad_id": PAD_ID, "unk_id": UNK_ID, "bos_id": BOS_ID, "eos_id": EOS_ID}
    if found != wanted:
        raise LatimerError(
            f"the SentencePiece model was trained with {_spelled(found)} (-1 is none); "
            f"train it with {_spelled(wanted)}"
        )


def _spelled(ids: dict[str, int]) -> str:
    return " ".join(f"{name}={number}" for name, number in ids.items())
