"""The ways of decoding behind one call: beam search, sampling, minimum risk."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from torch import Tensor

from latimer.decoding import (
    Hypothesis,
    SamplingSettings,
    SearchSettings,
    TranslationModel,
    beam_search,
    sample,
)
from latimer.tokenizer import Tokenizer
from latimer.translation.minimum_risk import (
    MinimumRiskSettings,
    make_utility,
    minimum_risk,
)

DecodingSettings = SearchSettings | SamplingSettings
"""How to decode; :class:`MinimumRiskSettings` are sampling settings too."""
METHODS: dict[str, type[SearchSettings] | type[SamplingSettings]] = {
    settings.method: settings
    for settings in (SearchSettings, SamplingSettings, MinimumRiskSettings)
}


def stored_search(config: Mapping[str, Any]) -> DecodingSettings:
    """How a run decoded, from its stored configuration, which may be older than some settings."""
    decoding = config["decoding"]
    settings = METHODS[decoding.get("method", SearchSettings.method)]
    names = [field.name for field in fields(settings)]
    return settings(**{name: decoding[name] for name in names if name in decoding})


class Decoder:
    """Finds the hypotheses of a batch, by the method that the settings are for.

    Args:
        settings: how to decode.
        tokenizer: of the target, for samples to be compared as text.
        target_language: chooses how BLEU finds words where samples are compared by it.

    Raises:
        LatimerError: BLEU's tokenizer of the language is missing.
    """

    def __init__(
        self, settings: DecodingSettings, tokenizer: Tokenizer, target_language: str
    ) -> None:
        self.settings = settings
        self.tokenizer = tokenizer
        self.utility = make_utility(settings, target_language)

    def find(
        self,
        model: TranslationModel[Any],
        source: Tensor,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence, best first.

        Samples are ranked by their expected utility, or by their log-probability.

        Args:
            model: in evaluation mode.
            source: (B, S) long, each sentence's pieces and eos, padded on the right.
            prefixes: pieces with which each sentence's hypotheses begin; None for none.
        """
        if isinstance(self.settings, SearchSettings):
            return beam_search(model, source, self.settings, prefixes=prefixes)
        drawn = sample(model, source, self.settings, prefixes=prefixes)
        return [self._rank(samples) for samples in drawn]

    def _rank(self, samples: list[Hypothesis]) -> list[Hypothesis]:
        if self.utility is None:
            return sorted(samples, key=lambda each: -each.log_probability)
        texts = [self.tokenizer.decode(each.ids) for each in samples]
        return minimum_risk(samples, texts, self.utility)
