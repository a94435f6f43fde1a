"""Muon (Jordan et al., 2024): every matrix of a layer moves along an orthogonal matrix.

``torch.optim.Muon`` takes matrices alone, one after the other and always in bfloat16, which most
CPUs only emulate; what is here takes all matrices of a shape at once, in the precision of the
training's products, and everything else by Adam.
"""

from collections.abc import Callable
from itertools import groupby
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

# Jordan's: they take the smallest singular values up fastest, and leave all between 0.7 and 1.2.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5

# Root mean square of a step in rates, as Adam's steps have it, so that one rate serves both
# (Liu et al. 2025, section 2.2).
STEP_SIZE = 0.2


class Muon(Optimizer):
    """Muon for matrices, Adam for the other parameters, at the same rate.

    Args:
        matrices: two-dimensional parameters; embeddings are none of them.
        others: all other parameters.
        momentum: decay of a matrix's running mean gradient, per update.
        weight_decay: share of a matrix that goes per update, times the rate.
        products: precision of the products that make a step orthogonal.
        adam: what ``torch.optim.Adam`` gets; its ``lr`` is the rate of both.
    """

    def __init__(
        self,
        matrices: list[nn.Parameter],
        others: list[nn.Parameter],
        *,
        momentum: float,
        weight_decay: float,
        products: torch.dtype = torch.float32,
        **adam: Any,
    ) -> None:
        keys = {"momentum": momentum, "weight_decay": weight_decay}
        groups = [{"params": matrices, "muon": True, **keys}, {"params": others, "muon": False}]
        rate = {"lr": adam["lr"]}
        super().__init__([group for group in groups if group["params"]], rate)
        self._products = products
        self._adam = torch.optim.Adam(others, **adam) if others else None
        self._share_with_adam()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a stored state; torch puts new dictionaries in the place of the old."""
        super().load_state_dict(state_dict)
        self._share_with_adam()

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """One update of all parameters that have a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            if group["muon"]:
                for matrices in _of_one_shape(group["params"]):
                    self._step_matrices(matrices, group)
        if self._adam is not None:
            self._adam.step()
        return loss

    def _share_with_adam(self) -> None:
        """One state and one group for both: what is stored and scheduled is all there is."""
        if self._adam is None:
            return
        (group,) = (group for group in self.param_groups if not group["muon"])
        for key, value in self._adam.param_groups[0].items():
            group.setdefault(key, value)
        self._adam.param_groups = [group]
        self._adam.state = self.state

    def _step_matrices(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        """Moves matrices of one shape."""
        directions = torch.stack([self._direction(one, group) for one in matrices])
        steps = orthogonal(directions, self._products)
        size = STEP_SIZE * max(matrices[0].shape) ** 0.5
        for matrix, step in zip(matrices, steps, strict=True):
            matrix.mul_(1 - group["lr"] * group["weight_decay"])
            matrix.add_(step, alpha=-group["lr"] * size)

    def _direction(self, matrix: Tensor, group: dict[str, Any]) -> Tensor:
        """Nesterov's: the mean gradient as it will be if the newest one comes again."""
        gradient, state = cast(Tensor, matrix.grad), self.state[matrix]
        if not state:
            state["mean_gradient"] = torch.zeros_like(matrix)
        mean: Tensor = state["mean_gradient"].lerp_(gradient, 1 - group["momentum"])
        return gradient.lerp(mean, group["momentum"])


def orthogonal(matrices: Tensor, products: torch.dtype = torch.float32) -> Tensor:
    """About U V^T for each matrix U S V^T, by Newton and Schulz's iteration (Jordan et al., 2024).

    Args:
        matrices: (number, rows, columns).
        products: precision of the iteration; bfloat16 is enough for it (Jordan's own).

    Returns:
        The same shape and precision; singular values are between about 0.7 and 1.2, but for those
        that were close to zero beside the largest.
    """
    if matrices.size(1) > matrices.size(2):
        return orthogonal(matrices.mT, products).mT
    first, third, fifth = COEFFICIENTS
    size = torch.linalg.matrix_norm(matrices, keepdim=True)
    found: Tensor = (matrices / size.clamp(min=1e-7)).to(products)
    for _ in range(ITERATIONS):
        squares = found @ found.mT
        powers = torch.baddbmm(squares, squares, squares, beta=third, alpha=fifth)
        found = torch.baddbmm(found, powers, found, beta=first)
    return found.to(matrices.dtype)


def _of_one_shape(parameters: list[Tensor]) -> list[list[Tensor]]:
    moved = sorted((one for one in parameters if one.grad is not None), key=lambda one: one.shape)
    return [list(same) for _, same in groupby(moved, key=lambda one: one.shape)]
