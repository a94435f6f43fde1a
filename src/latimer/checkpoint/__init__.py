"""The checkpoint: one file of tensors and plain values that is enough by itself.

It holds the weights, the hyper-parameters, the languages, the tokenizers' bytes and the whole
configuration, so it can be moved to another machine and its training data deleted. Reading one
never runs code, whoever made it.
"""

from latimer.checkpoint.average import average, describe_updates, load_average
from latimer.checkpoint.file import (
    FORMAT,
    DamagedCheckpointError,
    read_checkpoint,
    write_checkpoint,
)
from latimer.checkpoint.loaded import LoadedModel, load_model, load_weights
from latimer.checkpoint.location import (
    AVERAGED,
    BEST,
    FINAL,
    find_checkpoint,
    read_final,
    write_final,
)
from latimer.checkpoint.names import name_too

__all__ = [
    "AVERAGED",
    "BEST",
    "FINAL",
    "FORMAT",
    "DamagedCheckpointError",
    "LoadedModel",
    "average",
    "describe_updates",
    "find_checkpoint",
    "load_average",
    "load_model",
    "load_weights",
    "name_too",
    "read_checkpoint",
    "read_final",
    "write_checkpoint",
    "write_final",
]
