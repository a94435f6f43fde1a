"""Which devices and which precision a run uses, and why (``trainer=auto``)."""

from dataclasses import dataclass

import torch

from latimer.config.training import TrainerConfig
from latimer.errors import LatimerError
from latimer.training.processes import threads_each


@dataclass(frozen=True)
class Hardware:
    """What Lightning is told, and a sentence for the person who watches."""

    accelerator: str
    precision: str
    description: str


def choose_hardware(config: TrainerConfig) -> Hardware:
    """Resolves "auto": a GPU before Apple's before the CPU, bfloat16 where it is fast.

    float16 is never chosen: it needs its loss scaled, and bfloat16 is as fast.

    Raises:
        LatimerError: a device was asked for by name that this machine does not have, or more of
            them than it has, or float16 elsewhere than on a GPU.
    """
    accelerator = _accelerator(config.accelerator)
    if config.devices > 1:
        _check_devices(accelerator, config.devices)
    if config.precision == "float16-mixed" and accelerator != "gpu":
        raise LatimerError(
            f"trainer.precision=float16-mixed: is for GPUs, and this run would use "
            f"{_name(accelerator, 1)}; write trainer.precision=auto"
        )
    fast_bfloat16, reason = _bfloat16(accelerator)
    chosen = "bf16-mixed" if fast_bfloat16 else "float32"
    precision = chosen if config.precision == "auto" else config.precision
    why = reason if config.precision == "auto" else "as configured"
    name = _name(accelerator, config.devices)
    return Hardware(accelerator, precision, f"{name}, {precision} ({why})")


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


def _check_devices(accelerator: str, devices: int) -> None:
    if accelerator == "mps":
        raise LatimerError(
            f"trainer.devices={devices}: an Apple machine has one device; write trainer.devices=1"
        )
    if accelerator == "gpu" and devices > (present := torch.cuda.device_count()):
        raise LatimerError(
            f"trainer.devices={devices}: PyTorch can use {present} of this machine; write "
            f"trainer.devices={present}"
        )


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


def _name(accelerator: str, devices: int) -> str:
    several = f"{devices} × " if devices > 1 else ""
    if accelerator == "gpu":
        return several + torch.cuda.get_device_name()
    return f"{several}{accelerator.upper()} with {threads_each(devices)} threads"
