"""Raw text in, raw text out: a checkpoint's model, tokenizers and search behind one call."""

from latimer.translation.device import choose_device
from latimer.translation.translator import Translation, Translator, stored_search

__all__ = ["Translation", "Translator", "choose_device", "stored_search"]
