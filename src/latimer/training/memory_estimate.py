"""What a training needs of memory: counted from its tensors, and measured at its highest."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.optim import Optimizer

MEBIBYTE = 2**20


class SavedTensors:
    """Counts what autograd keeps of a forward pass until its backward pass: the activations.

    Args:
        parameters: those of the model, which are kept anyway and don't count.

    Attributes:
        size: bytes so far; a storage that several tensors share counts once.
    """

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self.size = 0
        self._known = {_address(parameter) for parameter in parameters}

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Counts those of the forward passes in the block."""
        with saved_tensors_hooks(self._count, lambda tensor: tensor):
            yield

    def _count(self, tensor: Tensor) -> Tensor:
        if _address(tensor) not in self._known:
            self._known.add(_address(tensor))
            self.size += tensor.untyped_storage().nbytes()
        # An output of its own node, kept as it is, would keep that node too.
        return tensor.detach()


@dataclass(frozen=True)
class Memory:
    """Bytes that a training needs.

    Attributes:
        weights: of the model.
        gradients: of the weights that are trained.
        optimizer: its running means.
        activations: of the largest batch.
    """

    weights: int
    gradients: int
    optimizer: int
    activations: int

    @property
    def total(self) -> int:
        """All of them at once, as they are when a backward pass begins."""
        return self.weights + self.gradients + self.optimizer + self.activations

    @classmethod
    def after_update(cls, model: nn.Module, optimizer: Optimizer, activations: int) -> "Memory":
        """Counts the tensors as they are once an update is done."""
        parameters = list(model.parameters())
        states = [value for state in optimizer.state.values() for value in state.values()]
        return cls(
            weights=_size(parameters),
            gradients=_size(p.grad for p in parameters if p.grad is not None),
            optimizer=_size(value for value in states if isinstance(value, Tensor)),
            activations=activations,
        )


def peak(device: torch.device) -> tuple[int, str]:
    """The most memory that this process needed so far, in bytes, and of which kind that is."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device), "allocated by PyTorch on the GPU"
    return _peak_resident(), "resident memory of this process, with libraries and data"


def format_size(size: float) -> str:
    """Bytes as a person reads them, such as ``12.5 MiB``."""
    mebibytes = size / MEBIBYTE
    return f"{mebibytes / 1024:,.2f} GiB" if mebibytes >= 1000 else f"{mebibytes:,.1f} MiB"


def _peak_resident() -> int:
    if sys.platform == "win32":
        return 0
    import resource  # noqa: PLC0415 (there is none on Windows)

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _size(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)
