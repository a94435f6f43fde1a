"""Who may attend to whom (section 3.2.3). True means: may be attended to."""

import torch
from torch import Tensor

PAD_ID = 0


def padding_mask(ids: Tensor) -> Tensor:
    """(B, S) -> (B, 1, 1, S): every position may attend to each piece that is not padding."""
    return (ids != PAD_ID)[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """(1, 1, T, T): position t may attend to the positions up to t itself (section 3.1)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]
