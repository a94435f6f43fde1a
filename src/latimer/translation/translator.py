"""The translator: n lines in, n lines out, in order, whatever is translated together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import torch

from latimer.checkpoint import LoadedModel, load_model
from latimer.decoding import Hypothesis
from latimer.errors import LatimerError
from latimer.tokenizer import Tokenizers
from latimer.translation.batches import batches_by_length, padded
from latimer.translation.device import choose_device
from latimer.translation.ensembles import (
    TranslatingModel,
    device_of,
    evaluating,
    join,
    last_position,
)
from latimer.translation.given_targets import score_targets
from latimer.translation.methods import Decoder, DecodingSettings, stored_search
from latimer.translation.prefixes import encode_prefixes
from latimer.translation.stream import CHUNK, in_chunks
from latimer.translation.translation import Translation


class Translator:
    """Translates raw text with a trained model, or an ensemble of several, in float32.

    A line gives the same text alone and among others: sources are sorted by length into batches,
    padding has no influence, and no limit depends on a neighbour. A blank line becomes an empty one
    without the model.

    Args:
        model: where it lies is where it is used; it is put into evaluation mode while translating.
        tokenizers: those that it was trained with.
        settings: how to decode: beam search, sampling or minimum risk.
        max_tokens: the budget of a batch, in padded source pieces times beams or samples.
        target_language: chooses how BLEU finds words, where samples are compared by it.
    """

    def __init__(
        self,
        model: TranslatingModel,
        tokenizers: Tokenizers,
        settings: DecodingSettings,
        *,
        max_tokens: int,
        target_language: str = "",
    ) -> None:
        self.model = model
        self.tokenizers = tokenizers
        self.settings = settings
        self.max_tokens = max_tokens
        self.max_source_length: int | None = None
        if (positions := last_position(model)) is not None:
            # Both sides spend one position on a special id: the source's eos, the target's bos.
            self.max_source_length = positions - 1
            self.settings = replace(settings, max_length=self.max_source_length)
        self._decoder = Decoder(self.settings, tokenizers.target, target_language)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return device_of(self.model)

    @classmethod
    def from_checkpoint(
        cls, path: str | Path, settings: DecodingSettings | None = None, *, device: str = "auto"
    ) -> Self:
        """Rebuilds a translator from a checkpoint, or from a run folder's best one.

        Args:
            path: the file or the folder.
            settings: how to decode; None for the settings of the run.
            device: "auto", "cpu", "cuda", "cuda:1", "mps".

        Raises:
            LatimerError: the checkpoint or the device cannot be used.
        """
        return cls.from_checkpoints([path], settings, device=device)

    @classmethod
    def from_checkpoints(
        cls,
        paths: Sequence[str | Path],
        settings: DecodingSettings | None = None,
        *,
        device: str = "auto",
    ) -> Self:
        """An ensemble: the mean of the probabilities that several checkpoints give.

        Arguments and errors as in :meth:`from_checkpoint`; the settings are those of the first
        one's run. The checkpoints must have the same tokenizers and languages.
        """
        loaded = [load_model(path) for path in paths]
        if not loaded:
            raise LatimerError("there is no checkpoint; name at least one")
        settings = settings or stored_search(loaded[0].config)
        return cls.from_loaded(loaded[0], settings, others=loaded[1:], device=device)

    @classmethod
    def from_loaded(
        cls,
        loaded: LoadedModel,
        settings: DecodingSettings,
        *,
        others: Sequence[LoadedModel] = (),
        device: str = "auto",
        max_tokens: int | None = None,
    ) -> Self:
        """A translator of a model that was loaded, and of ``others`` that join it in an ensemble.

        ``max_tokens`` is None for that of its run.
        """
        return cls(
            join([loaded, *others], choose_device(device)),
            loaded.tokenizers,
            settings,
            max_tokens=max_tokens or loaded.config["decoding"]["max_tokens"],
            target_language=loaded.target_language,
        )

    def translate(self, lines: Sequence[str], prefixes: Sequence[str] | None = None) -> list[str]:
        """The translation of each line; ``prefixes`` as in :meth:`translations`."""
        return [translation.text for translation in self.translations(lines, prefixes)]

    def translate_lines(self, lines: Iterable[str], chunk: int = CHUNK) -> Iterator[str]:
        """Yields the translation of each line, of an open file or of any other source without end.

        Args:
            lines: with or without their line ends.
            chunk: how many are read before the first of them is yielded.
        """
        for some in in_chunks(lines, chunk):
            yield from self.translate(some)

    def search(self, lines: Sequence[str]) -> list[list[Hypothesis]]:
        """The ``n_best`` hypotheses of each line, best first; none for a blank line."""
        return [list(translation.hypotheses) for translation in self.translations(lines)]

    def translations(
        self, lines: Sequence[str], prefixes: Sequence[str] | None = None
    ) -> list[Translation]:
        """All that is known of the translation of each line.

        Args:
            lines: the sources.
            prefixes: how the translation of each line begins, "" for a free one; it may go on with
                the prefix's last word. None for none. A blank line stays blank all the same.

        Raises:
            LatimerError: not one prefix for each line.
            PrefixError: one that the model cannot write; it is a ``LatimerError``, too.
        """
        encoded = self._encode(lines)
        prefixes = [""] * len(lines) if prefixes is None else prefixes
        if len(prefixes) != len(lines):
            raise LatimerError(f"{len(lines)} lines, but {len(prefixes)} prefixes; write one each")
        begun = encode_prefixes(prefixes, self.tokenizers.target, self.max_source_length)
        sources = [ids[: self.max_source_length] for ids in encoded]
        result = [Translation()] * len(lines)
        for rows in batches_by_length(
            [len(ids) for ids in sources],
            beams=self.settings.width,
            max_tokens=self.max_tokens,
        ):
            found = self._search([sources[row] for row in rows], [begun[row] for row in rows])
            for row, hypotheses in zip(rows, found, strict=True):
                text = self.tokenizers.target.decode(hypotheses[0].ids)
                cut = len(sources[row]) < len(encoded[row])
                result[row] = Translation(text, tuple(hypotheses), cut)
        return result

    def scores(self, sources: Sequence[str], targets: Sequence[str]) -> list[Hypothesis | None]:
        """What the model thinks of given translations: each target's log-probability and score.

        The score is made with the penalties of the search, so that it compares with those of its
        hypotheses. None stands for a blank source, which no model translates, and for a target
        beyond the model's learned positions; an empty target is scored like any other.

        Raises:
            LatimerError: not one target for each source.
        """
        if len(sources) != len(targets):
            raise LatimerError(
                f"{len(sources)} sources, but {len(targets)} targets; write one of each"
            )
        cleared = [target.rstrip("\r\n") for target in targets]
        encoded = self.tokenizers.target.encode_batch(cleared)
        longest = self.max_source_length
        return score_targets(
            self.model,
            [ids[:longest] for ids in self._encode(sources)],
            [ids if longest is None or len(ids) <= longest else None for ids in encoded],
            self.settings,
            max_tokens=self.max_tokens,
        )

    def _encode(self, lines: Sequence[str]) -> list[list[int]]:
        """The pieces of each line; none for a blank one, whatever the normalisation makes of it."""
        cleared = [line.rstrip("\r\n") if line.strip() else "" for line in lines]
        return self.tokenizers.source.encode_batch(cleared)

    def _search(
        self, sources: list[list[int]], prefixes: list[list[int]]
    ) -> list[list[Hypothesis]]:
        with evaluating(self.model):
            return self._decoder.find(self.model, padded(sources, self.device), prefixes)
