"""latimer trains the Transformer of "Attention Is All You Need" on translation data."""

__version__ = "0.1.0"
