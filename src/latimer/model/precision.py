"""The precision of matrix products, where it is not that of everything else."""

import torch
from torch import Tensor


def for_products(tensor: Tensor) -> Tensor:
    """The tensor in the precision that autocast gives to matrix products; itself without autocast.

    Autocast converts what each product gets, weights alone once: what several products get is
    better converted before them.
    """
    device = tensor.device.type
    if not torch.is_autocast_enabled(device):
        return tensor
    return tensor.to(torch.get_autocast_dtype(device))
