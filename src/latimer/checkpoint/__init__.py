"""The checkpoint: one file of tensors and plain values that is enough by itself.

It holds the weights, the hyper-parameters, the languages, the tokenizers' bytes and the whole
configuration, so it can be moved to another machine and its training data deleted. Reading one
never runs code, whoever made it.
"""

from latimer.checkpoint.average import average
from latimer.checkpoint.file import FORMAT, read_checkpoint, write_checkpoint
from latimer.checkpoint.loaded import LoadedModel, load_model, load_weights
from latimer.checkpoint.location import find_checkpoint

__all__ = [
    "FORMAT",
    "LoadedModel",
    "average",
    "find_checkpoint",
    "load_model",
    "load_weights",
    "read_checkpoint",
    "write_checkpoint",
]
