"""float16's loss scaling: gradients are computed larger than they are, lest the small ones vanish.

Lightning scales the loss and lets the scale follow what the gradients bear: an update whose
gradients overflow is skipped, and the scale halved.
"""

import pytorch_lightning as pl
from torch.optim import Optimizer


def unscale(trainer: pl.Trainer, optimizer: Optimizer) -> float:
    """Brings all gradients to their real size, before they are measured and clipped.

    Returns:
        What they were multiplied by; 1.0 in other precisions.
    """
    scaler = getattr(trainer.precision_plugin, "scaler", None)
    if scaler is None:
        return 1.0
    # Lightning has done so already, but for a fused optimizer, which would do it in its step.
    if getattr(optimizer, "_step_supports_amp_scaling", False):
        scaler.unscale_(optimizer)
    return float(scaler.get_scale())
