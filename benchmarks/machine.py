"""The machine that is measured on, and what of its settings matters."""

import importlib.metadata
import os
import platform
import re
from pathlib import Path
from typing import Any

import torch

from latimer.config.training import TrainerConfig
from latimer.training.hardware import choose_hardware

VARIABLES = (
    *("GLIBC_TUNABLES", "LD_PRELOAD", "MALLOC_CONF", "OMP_NUM_THREADS", "KMP_AFFINITY"),
    *("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "ONEDNN_DEFAULT_FPMATH_MODE", "ONEDNN_MAX_CPU_ISA"),
)
INSTRUCTIONS = ("avx2", "fma3", "avx512_f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16")
LIBRARIES = ("torch", "pytorch-lightning", "transformers", "ctranslate2")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def describe_machine() -> dict[str, Any]:
    """What a reader of the tables must know, as plain values."""
    return {
        "cpu": _from_file("/proc/cpuinfo", r"model name\s*: (.+)") or platform.processor(),
        "cores": _cores(),
        "threads": torch.get_num_threads(),
        "instructions": _instructions(),
        "memory_gib": _memory(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version for name in LIBRARIES if (version := _version(name))},
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "huge_pages": _from_file(HUGE_PAGES, r"\[(\w+)\]"),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def precisions() -> list[str]:
    """float32, and bfloat16 where this CPU is fast at it."""
    automatic = TrainerConfig(
        accelerator="cpu",
        devices=1,
        precision="auto",
        max_updates=1,
        max_epochs=None,
        max_time=None,
        gradient_clip=None,
        profiler=None,
        log_every_updates=1,
    )
    return sorted({"float32", choose_hardware(automatic).precision}, reverse=True)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _instructions() -> list[str]:
    features = torch.cpu.get_capabilities()
    return [name for name in INSTRUCTIONS if features.get(name)]


def _memory() -> float | None:
    kibibytes = _from_file("/proc/meminfo", r"MemTotal:\s*(\d+)")
    return round(int(kibibytes) / 2**20, 1) if kibibytes else None


def _from_file(path: str | Path, pattern: str) -> str | None:
    file = Path(path)
    found = re.search(pattern, file.read_text(encoding="utf-8")) if file.is_file() else None
    return found[1] if found else None


def _version(library: str) -> str | None:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None
