"""Which weights of a checkpoint fit a model, and how that is told."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from latimer.checkpoint import LoadedModel
from latimer.model import Transformer
from latimer.tokenizer import Tokenizers
from latimer.training.counts import BLOCKS
from latimer.training.freezing import tied_parameters

RECORD = "init_from.json"
"""Where a run's folder tells what its weights began with."""
SIDES = {
    "source_embedding.pieces.weight": "source",
    "target_embedding.pieces.weight": "target",
    "output.weight": "target",
}
"""The vocabulary matrices, and the side whose pieces their rows are for."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What a run has begun with.

    Attributes:
        key: of the configuration, "init_from" or "init_from_partial".
        checkpoint: the file.
        sha256: its hash.
        updates: optimizer updates behind it.
        taken: the parameters with its weights.
        left: the other parameters, and why they don't have them.
        other_there: languages and hyper-parameters in which it differs.
    """

    key: str
    checkpoint: str
    sha256: str
    updates: int
    taken: list[str]
    left: dict[str, str]
    other_there: list[str]

    @property
    def record(self) -> dict[str, Any]:
        """The content of ``init_from.json``."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """For the screen: where the weights are from, and which parts of the model have them."""
        yield f"begins with  {describe(self.record)}"
        if self.left:
            yield f"taken        {self._parts()}; {RECORD} names them"
            reasons = Counter(self.left.values()).items()
            yield f"not taken    {', '.join(f'{number} {why}' for why, number in reasons)}"
        if self.other_there:
            yield f"there        {', '.join(self.other_there)}"

    def _parts(self) -> str:
        shares = []
        for block, parts in BLOCKS:
            taken, left = (
                sum(name.partition(".")[0] in parts for name in names)
                for names in (self.taken, self.left)
            )
            shares.append(f"{block} {taken} of {taken + left}")
        return f"{', '.join(shares)} matrices and vectors"


def describe(record: Mapping[str, Any]) -> str:
    """Where weights came from, of the content of ``init_from.json``."""
    share = "the weights that fit" if record["left"] else "all weights"
    updates = f"{record['updates']:,} updates"
    return f"{share} of {record['checkpoint']} ({updates}, SHA-256 {record['sha256']})"


def take_what_fits(
    model: Transformer, tokenizers: Tokenizers, source: LoadedModel
) -> tuple[list[str], dict[str, str]]:
    """Copies what has the same name and shape, and, of vocabularies, the same tokenizer.

    Returns:
        The names of what was taken; and of what wasn't, with the reason.
    """
    stored = source.model.state_dict()
    other = {
        name
        for name, side in SIDES.items()
        if getattr(tokenizers, side) != getattr(source.tokenizers, side)
    }
    taken: list[str] = []
    left: dict[str, str] = {}
    for names, parameter in tied_parameters(model):
        obstacle = _obstacle(names, parameter, stored, other)
        if obstacle is None:
            _copy(stored[names[0]], parameter)
            taken += names
        else:
            left |= dict.fromkeys(names, obstacle)
    return taken, left


def _obstacle(
    names: list[str], parameter: Tensor, stored: Mapping[str, Tensor], other: set[str]
) -> str | None:
    """Why a parameter can't be taken, which has several names if it is shared."""
    if not stored.keys() >= set(names):
        return "not there"
    if other & set(names):
        return "of another tokenizer there"
    if any(stored[name].shape != parameter.shape for name in names):
        return "of another shape there"
    if not all(torch.equal(stored[name], stored[names[0]]) for name in names):
        return "shared here, but not there"
    return None


@torch.no_grad()
def _copy(weights: Tensor, parameter: nn.Parameter) -> None:
    parameter.copy_(weights)
