"""The parameters that are not trained, chosen by patterns of their names."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from torch import nn

from latimer.errors import LatimerError
from latimer.model import Transformer

SHOWN = 4


def tied_parameters(model: Transformer) -> list[tuple[list[str], nn.Parameter]]:
    """Every parameter once, with its names: a matrix that is shared has several."""
    names: dict[nn.Parameter, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(parameter, []).append(name)
    return [(own, parameter) for parameter, own in names.items()]


def freeze(model: Transformer, patterns: Sequence[str]) -> None:
    """Leaves the parameters with a name that matches a pattern, such as "encoder.*", as they are.

    A shared matrix is frozen by any of its names. Dropout goes on in what is frozen.

    Raises:
        LatimerError: a pattern matches nothing, or nothing is left to train.
    """
    parameters = tied_parameters(model)
    names = [name for own, _ in parameters for name in own]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise LatimerError(f"freeze={pattern}: no parameter has such a name; {_some(names)}")
    for own, parameter in parameters:
        matches = any(fnmatchcase(name, pattern) for name in own for pattern in patterns)
        parameter.requires_grad_(not matches)
    if not any(parameter.requires_grad for _, parameter in parameters):
        raise LatimerError(
            f"freeze=[{', '.join(patterns)}]: nothing is left to train"
            + "".join(f"; {tied}" for tied in tied_names(model))
        )


def tied_names(model: Transformer) -> list[str]:
    """Which names of frozen parameters mean the same matrix, in words."""
    return [
        f"{' and '.join(names)} are one matrix"
        for names, parameter in tied_parameters(model)
        if len(names) > 1 and not parameter.requires_grad
    ]


def describe_frozen(model: Transformer) -> str | None:
    """How much is trained, and what shared matrix isn't; None if nothing is frozen."""
    sizes = [(one.numel(), one.requires_grad) for one in model.parameters()]
    whole, trained = sum(n for n, _ in sizes), sum(n for n, learns in sizes if learns)
    if trained == whole:
        return None
    counts = f"{trained:,} of {whole:,} parameters, the others are frozen"
    return "; ".join([counts, *tied_names(model)])


def _some(names: Sequence[str]) -> str:
    """A few names, from all over the model."""
    shown = names[:: max(1, len(names) // SHOWN)][:SHOWN]
    return f"names are {', '.join(shown)}, ..."
