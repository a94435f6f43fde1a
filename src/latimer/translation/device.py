"""Where to translate."""

import torch

from latimer.errors import LatimerError


def choose_device(name: str) -> torch.device:
    """The device of a name; "auto" is a GPU before Apple's before the CPU.

    Raises:
        LatimerError: PyTorch does not know such a device, or this machine has none.
    """
    present = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    here = [kind for kind, is_here in present.items() if is_here]
    if name == "auto":
        return torch.device(here[0])
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise LatimerError(
            f"device={name}: there is no such device; write auto, {', '.join(here)}"
        ) from error
    beyond = device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count()
    if device.type not in here or beyond:
        raise LatimerError(
            f"device={name}: this machine has no such device that PyTorch {torch.__version__} can "
            f"use; write auto, {', '.join(here)}"
        )
    return device
