"""The Transformer of "Attention Is All You Need" (arXiv 1706.03762), section by section.

Letters of shapes, everywhere in this project: **B** sentences, **S** source length, **T** target
length, **D** d_model, **H** heads, **V** pieces in the vocabulary, **K** beams.

Masks are boolean and are called ``may_attend``: **True means that the position may be attended
to**. Whoever wants only the Transformer copies this folder: it needs torch alone.
"""

from latimer.model.attention_weights import AttentionWeights
from latimer.model.transformer import Transformer

__all__ = ["AttentionWeights", "Transformer"]
