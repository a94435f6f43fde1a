"""The translator: n lines in, n lines out, in order, whatever is translated together."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import torch
from torch.nn.utils.rnn import pad_sequence

from latimer.checkpoint import LoadedModel, load_model
from latimer.decoding import Hypothesis, SearchSettings, beam_search
from latimer.model import Transformer
from latimer.tokenizer import EOS_ID, PAD_ID, Tokenizers
from latimer.translation.batches import batches_by_length
from latimer.translation.device import choose_device


@dataclass(frozen=True)
class Translation:
    """What became of one line.

    Attributes:
        text: the best hypothesis as raw text, one line; empty for a blank source.
        hypotheses: the ``n_best`` ones that were found, best first; none for a blank source.
        cut: whether the source was longer than the model's positions, and lost its end.
    """

    text: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    cut: bool = False


class Translator:
    """Translates raw text with a trained model, by beam search in float32.

    A line gives the same text alone and among others: sources are sorted by length into batches,
    padding has no influence, and no limit depends on a neighbour. A blank line becomes an empty one
    without the model.

    Args:
        model: where it lies is where it is used; it is put into evaluation mode while translating.
        tokenizers: those that it was trained with.
        settings: how to search.
        max_tokens: the budget of a batch, in padded source pieces times beams.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizers: Tokenizers,
        settings: SearchSettings,
        *,
        max_tokens: int,
    ) -> None:
        self.model = model
        self.tokenizers = tokenizers
        self.settings = settings
        self.max_tokens = max_tokens
        self.max_source_length: int | None = None
        if model.hyperparameters["positions"] == "learned":
            # Both sides spend one position on a special id: the source's eos, the target's bos.
            self.max_source_length = model.hyperparameters["max_length"] - 1
            self.settings = replace(settings, max_length=self.max_source_length)

    @classmethod
    def from_checkpoint(
        cls, path: str | Path, settings: SearchSettings | None = None, *, device: str = "auto"
    ) -> Self:
        """Rebuilds a translator from a checkpoint, or from a run folder's best one.

        Args:
            path: the file or the folder.
            settings: how to search; None for the settings of the run.
            device: "auto", "cpu", "cuda", "cuda:1", "mps".

        Raises:
            LatimerError: the checkpoint or the device cannot be used.
        """
        loaded = load_model(path)
        return cls.from_loaded(loaded, settings or stored_search(loaded.config), device=device)

    @classmethod
    def from_loaded(
        cls,
        loaded: LoadedModel,
        settings: SearchSettings,
        *,
        device: str = "auto",
        max_tokens: int | None = None,
    ) -> Self:
        """A translator of a model that was loaded; ``max_tokens`` None for that of its run."""
        return cls(
            loaded.model.to(choose_device(device)),
            loaded.tokenizers,
            settings,
            max_tokens=max_tokens or loaded.config["decoding"]["max_tokens"],
        )

    def translate(self, lines: Sequence[str]) -> list[str]:
        """The translation of each line."""
        return [translation.text for translation in self.translations(lines)]

    def search(self, lines: Sequence[str]) -> list[list[Hypothesis]]:
        """The ``n_best`` hypotheses of each line, best first; none for a blank line."""
        return [list(translation.hypotheses) for translation in self.translations(lines)]

    def translations(self, lines: Sequence[str]) -> list[Translation]:
        """All that is known of the translation of each line."""
        encoded = self._encode(lines)
        sources = [ids[: self.max_source_length] for ids in encoded]
        result = [Translation()] * len(lines)
        for rows in batches_by_length(
            [len(ids) for ids in sources],
            beams=self.settings.beam_size,
            max_tokens=self.max_tokens,
        ):
            found = self._search([sources[row] for row in rows])
            for row, hypotheses in zip(rows, found, strict=True):
                text = self.tokenizers.target.decode(hypotheses[0].ids)
                cut = len(sources[row]) < len(encoded[row])
                result[row] = Translation(text, tuple(hypotheses), cut)
        return result

    def _encode(self, lines: Sequence[str]) -> list[list[int]]:
        """The pieces of each line; none for a blank one, whatever the normalisation makes of it."""
        cleared = [line if line.strip() else "" for line in lines]
        return self.tokenizers.source.encode_batch(cleared)

    def _search(self, sources: list[list[int]]) -> list[list[Hypothesis]]:
        device = next(self.model.parameters()).device
        rows = [torch.tensor([*ids, EOS_ID]) for ids in sources]
        padded = pad_sequence(rows, batch_first=True, padding_value=PAD_ID).to(device)
        # Not in the precision of a training that this may be part of: a score in a run must be the
        # score that the checkpoint gets later.
        with _evaluating(self.model), torch.autocast(device.type, enabled=False):
            return beam_search(self.model, padded, self.settings)


def stored_search(config: Mapping[str, Any]) -> SearchSettings:
    """How a run searched, from its stored configuration."""
    decoding = config["decoding"]
    names = [field.name for field in fields(SearchSettings)]
    return SearchSettings(**{name: decoding[name] for name in names if name in decoding})


@contextmanager
def _evaluating(model: Transformer) -> Iterator[None]:
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)
