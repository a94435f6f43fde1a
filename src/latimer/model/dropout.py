"""Dropout (section 5.4), fast on a CPU too."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

STEPS = 2**8


class Dropout(nn.Module):
    """Zeroes each element with a probability in training, and scales the others up.

    On a CPU, PyTorch draws a random number for each element one after the other, which took a
    sixth of a training update. Here one random number of 64 bits decides on eight elements. Most
    probabilities are no multiple of 2^-8: each row draws one of the two multiples beside it, so
    often that every element's probability is the stated one.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, states: Tensor) -> Tensor:
        """Any shape to the same shape."""
        if not self.training or not self.probability:
            return states
        if states.device.type != "cpu":
            return F.dropout(states, self.probability)
        return states * self._keep(states)

    def _keep(self, states: Tensor) -> Tensor:
        """Zeros and the scale, in the shape and type of ``states``."""
        count = states.numel()
        bits = torch.empty((count + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        uniform = bits.view(torch.uint8)[:count].view(states.shape)
        zeroed = (torch.rand(*states.shape[:-1], 1) + self.probability * STEPS).floor_()
        # In float32 and in place: comparing integers and converting the answer took twice as long.
        keep = uniform.float().ge_(zeroed)
        return keep.mul_(1.0 / (1.0 - self.probability)).to(states.dtype)

    def extra_repr(self) -> str:
        """The probability, when a model is printed."""
        return f"{self.probability}"
