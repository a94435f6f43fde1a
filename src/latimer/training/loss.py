"""The label-smoothed loss and, apart from it, the negative log-likelihood (section 5.4)."""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from latimer.model.precision import for_products

ROWS_AT_ONCE = 512
"""Rows of logits made together: few enough to stay in a CPU's cache."""

ROWS_TOGETHER = 128
"""Rows are filled up to a multiple of these."""


class Losses(NamedTuple):
    """Two sums over target pieces, in nats.

    ``loss`` is smoothed and is what training minimises; ``nll`` is not smoothed, carries no
    gradient, and is what perplexity is made of.
    """

    loss: Tensor
    nll: Tensor


def smoothed_cross_entropy(logits: Tensor, labels: Tensor, label_smoothing: float) -> Losses:
    """Cross-entropy against (1 - ε) on the label and ε spread evenly over all V pieces.

    A uniform model scores ln V for every ε. Padding must have been left out before: every row
    counts. The sums are in float32.

    Args:
        logits: (N, V), one row for each real target piece.
        labels: (N,) ids.
        label_smoothing: ε, in [0, 1).
    """
    surprisals = -logits.float().log_softmax(dim=-1)
    return _sums(surprisals.gather(1, labels.unsqueeze(1)), surprisals.mean(-1), label_smoothing)


def _sums(at_labels: Tensor, means: Tensor, label_smoothing: float) -> Losses:
    """Of the surprisal of each row's label, and of each row's mean surprisal of all pieces."""
    nll = at_labels.sum()
    loss = (1.0 - label_smoothing) * nll + label_smoothing * means.sum()
    return Losses(loss, nll.detach())


def chunked_cross_entropy(
    states: Tensor, matrix: Tensor, labels: Tensor, label_smoothing: float
) -> Losses:
    """:func:`smoothed_cross_entropy` of ``states @ matrix.T``, whose N × V never exist at once.

    The products are in the precision of autocast, and the gradients are summed in float32. A step
    of the tiny model took 1.00 s where whole logits took 1.16 s (N 4,096, V 4,000, one core).

    Args:
        states: (N, D), the decoder's, one row for each real target piece.
        matrix: (V, D), the pre-softmax matrix.
        labels: (N,) ids.
        label_smoothing: ε, in [0, 1).
    """
    # In the function's own forward, autograd is always off.
    learning = torch.is_grad_enabled()
    return Losses(
        *_ChunkedCrossEntropy.apply(states, matrix, labels, label_smoothing, learning)  # type: ignore[no-untyped-call]
    )


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Forms the gradients along with the loss, while a chunk's probabilities are at hand.

    A logit's gradient is its probability, less (1 - ε) at the label, less ε / V everywhere. The
    last part is the same for all logits of a row: it and the mean of the logits need no pass over
    N × V, only the matrix's mean row and the sum of the states.
    """

    @staticmethod
    def forward(  # noqa: PLR0913, PLR0917 (autograd passes them by position)
        ctx: Any,
        states: Tensor,
        matrix: Tensor,
        labels: Tensor,
        label_smoothing: float,
        learning: bool,
    ) -> tuple[Tensor, Tensor]:
        for_states, for_matrix = (learning and needed for needed in ctx.needs_input_grad[:2])
        count, states = len(states), _filled_up(for_products(states))
        weights = for_products(matrix)
        mean_weights = matrix.mean(dim=0, dtype=torch.float32)
        loss, nll = (torch.zeros((), device=states.device) for _ in Losses._fields)
        state_gradient = torch.empty_like(states) if for_states else None
        matrix_gradient = torch.zeros_like(matrix, dtype=torch.float32) if for_matrix else None
        room = _Room(min(ROWS_AT_ONCE, len(states)), weights)
        for start in range(0, len(states), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            chunk, label = states[rows], labels[rows].unsqueeze(1)
            logits = room.logits(chunk, weights)[: len(label)]
            at_label = logits.gather(1, label)
            mean = (chunk[: len(label)] * mean_weights).sum(1, keepdim=True)
            probabilities, log_total = _softmax_in_place(logits)
            sums = _sums(log_total - at_label, log_total - mean, label_smoothing)
            loss += sums.loss
            nll += sums.nll
            if for_states or for_matrix:
                less = torch.full_like(at_label, label_smoothing - 1.0)
                probabilities.scatter_add_(1, label, less)
                gradient = room.gradient(len(label), len(chunk))
            if state_gradient is not None:
                state_gradient[rows] = gradient @ weights
            if matrix_gradient is not None:
                _add_product(matrix_gradient, gradient.T, chunk)
        if state_gradient is not None:
            state_gradient = state_gradient[:count] - label_smoothing * mean_weights
        if matrix_gradient is not None:
            matrix_gradient -= label_smoothing / len(matrix) * states.sum(0, dtype=torch.float32)
        ctx.save_for_backward(state_gradient, matrix_gradient)
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        gradients = (
            None if gradient is None else gradient * grad_outputs[0]
            for gradient in ctx.saved_tensors
        )
        return *gradients, None, None, None


class _Room:
    """Where all chunks form their logits: in memory of their own, the loss took a fifth longer."""

    def __init__(self, rows: int, weights: Tensor) -> None:
        self._products = weights.new_empty(rows, len(weights))
        self._float32 = self._products.float()

    def logits(self, states: Tensor, weights: Tensor) -> Tensor:
        """``states @ weights.T``, (N, V), in float32."""
        products = torch.mm(states, weights.T, out=self._products[: len(states)])
        return self._copied(products, self._float32)

    def gradient(self, rows: int, filled_up: int) -> Tensor:
        """What the logits' first rows have become, then zeros, in the precision of products."""
        gradient = self._float32[:filled_up]
        gradient[rows:] = 0.0
        return self._copied(gradient, self._products)

    @staticmethod
    def _copied(tensor: Tensor, room: Tensor) -> Tensor:
        return tensor if tensor.dtype == room.dtype else room[: len(tensor)].copy_(tensor)


def _filled_up(states: Tensor) -> Tensor:
    """States and rows of zeros, so that products have few shapes.

    PyTorch's library for CPUs builds a kernel for each shape, and hardly two batches have as many
    target pieces: with all as they come, the loss of `tiny` took 76 ms instead of 59 (two cores).
    """
    lacking = -len(states) % ROWS_TOGETHER
    return F.pad(states, (0, 0, 0, lacking)) if lacking else states


def _softmax_in_place(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Logits (N, V) to probabilities, and the logarithm of what they were divided by, (N, 1).

    One exponential for each, where a log-softmax and its exponential take two.
    """
    highest = logits.amax(dim=1, keepdim=True)
    exponentials = logits.sub_(highest).exp_()
    total = exponentials.sum(dim=1, keepdim=True)
    return exponentials.div_(total), total.log_().add_(highest)


def _add_product(to: Tensor, left: Tensor, right: Tensor) -> None:
    """Adds ``left @ right`` in place, without a tensor for it where the precisions agree."""
    if to.dtype == left.dtype:
        torch.addmm(to, left, right, out=to)  # addmm_ would escape PyTorch's count of operations
    else:
        to += left @ right
