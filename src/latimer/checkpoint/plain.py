"""What a checkpoint may hold: tensors and plain Python values, which load without running code."""

from typing import Any

import torch

from latimer.errors import LatimerError

TENSORS = (torch.Tensor, torch.nn.Parameter)
VALUES = (str, int, float, bool, bytes, type(None))


def as_plain(value: Any, place: str = "checkpoint") -> Any:
    """The same contents in plain containers; ordered and default dicts become dicts.

    The types are compared exactly: a subclass such as a NumPy float or an enumeration looks plain,
    and yet ``torch.load(..., weights_only=True)`` would refuse the file.

    Args:
        value: anything, nested to any depth.
        place: what to call ``value`` in a message.

    Raises:
        LatimerError: something in there could not be read back safely; the message says where.
    """
    if type(value) in VALUES:
        return value
    if type(value) in TENSORS:
        return value.detach()
    if isinstance(value, dict):
        return {
            _plain_key(key, place): as_plain(item, f"{place}[{key!r}]")
            for key, item in value.items()
        }
    if type(value) in (list, tuple):
        return type(value)(
            as_plain(item, f"{place}[{number}]") for number, item in enumerate(value)
        )
    raise LatimerError(_refusal(f"{place} is", value))


def _plain_key(key: Any, place: str) -> str | int:
    if type(key) not in (str, int):
        raise LatimerError(_refusal(f"{place} has the key {key!r},", key))
    return key  # type: ignore[no-any-return]


def _refusal(what: str, value: Any) -> str:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    return (
        f"{what} a {kind}, which a checkpoint cannot hold: only tensors and plain Python values "
        "(text, numbers, lists, dicts) can be read back without running code"
    )
