"""Which device and which precision a run uses, and why (``trainer=auto``)."""

from dataclasses import dataclass

import torch

from latimer.config.training import TrainerConfig
from latimer.errors import LatimerError


@dataclass(frozen=True)
class Hardware:
    """What Lightning is told, and a sentence for the person who watches."""

    accelerator: str
    precision: str
    description: str


def choose_hardware(config: TrainerConfig) -> Hardware:
    """Resolves "auto": a GPU before Apple's before the CPU, bfloat16 where it is fast.

    Raises:
        LatimerError: a device was asked for by name that this machine does not have.
    """
    accelerator = _accelerator(config.accelerator)
    fast_bfloat16, reason = _bfloat16(accelerator)
    chosen = "bf16-mixed" if fast_bfloat16 else "float32"
    precision = chosen if config.precision == "auto" else config.precision
    why = reason if config.precision == "auto" else "as configured"
    return Hardware(accelerator, precision, f"{_name(accelerator)}, {precision} ({why})")


def _accelerator(asked: str) -> str:
    available = {
        "gpu": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if asked == "auto":
        return next(name for name, present in available.items() if present)
    if not available[asked]:
        present = ", ".join(name for name, here in available.items() if here)
        raise LatimerError(
            f"trainer.accelerator={asked}: this machine has no such device that PyTorch "
            f"{torch.__version__} can use; it has: {present}"
        )
    return asked


def _bfloat16(accelerator: str) -> tuple[bool, str]:
    """Whether bfloat16 products are much faster than float32 ones there, and how that is known."""
    if accelerator == "gpu":
        fast = torch.cuda.get_device_capability() >= (8, 0)
        return fast, "bfloat16 tensor cores" if fast else "no bfloat16 tensor cores"
    if accelerator == "cpu":
        features = torch.cpu.get_capabilities()
        fast = bool(features.get("avx512_bf16") or features.get("amx_bf16"))
        return fast, "AVX512-BF16 or AMX" if fast else "neither AVX512-BF16 nor AMX"
    return False, "no measured gain from bfloat16"


def _name(accelerator: str) -> str:
    if accelerator == "gpu":
        return torch.cuda.get_device_name()
    return f"{accelerator.upper()} with {torch.get_num_threads()} threads"
