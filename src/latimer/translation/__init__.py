"""Raw text in, raw text out: a checkpoint's model, tokenizers and search behind one call."""

from latimer.translation.device import choose_device
from latimer.translation.ensembles import require_different
from latimer.translation.methods import DecodingSettings, stored_search
from latimer.translation.minimum_risk import MinimumRiskSettings
from latimer.translation.prefixes import PrefixError
from latimer.translation.translation import Translation
from latimer.translation.translator import Translator

__all__ = [
    "DecodingSettings",
    "MinimumRiskSettings",
    "PrefixError",
    "Translation",
    "Translator",
    "choose_device",
    "require_different",
    "stored_search",
]
