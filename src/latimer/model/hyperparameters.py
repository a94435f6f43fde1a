"""Which hyper-parameters go together, and the sizes that every layer of a stack shares."""

from dataclasses import dataclass, fields
from typing import Any, Self

from latimer.model.residual import RESIDUALS

SIZES = (
    *("source_vocab_size", "target_vocab_size", "d_model", "heads", "d_k", "d_v", "d_ff"),
    *("encoder_layers", "decoder_layers", "max_length"),
)
DROPOUTS = ("dropout", "attention_dropout", "feed_forward_dropout")


def check_hyperparameters(given: dict[str, Any]) -> None:
    """Raises ValueError for numbers with which no :class:`Transformer` can be built."""
    for name in SIZES:
        if given[name] is not None and given[name] < 1:
            raise ValueError(f"{name}: {given[name]} is less than 1")
    for name in DROPOUTS:
        if not 0.0 <= given[name] < 1.0:
            raise ValueError(f"{name}: {given[name]} is not a probability below 1")
    if None in (given["d_k"], given["d_v"]) and given["d_model"] % given["heads"]:
        raise ValueError(
            f"d_model {given['d_model']} is not divisible by heads {given['heads']}: "
            "write d_k and d_v, or other numbers"
        )


@dataclass(frozen=True, kw_only=True)
class LayerSizes:
    """What an encoder or decoder layer is made of (the columns of the paper's Table 3)."""

    d_model: int
    heads: int
    d_k: int
    d_v: int
    d_ff: int
    activation: str
    dropout: float
    attention_dropout: float
    feed_forward_dropout: float
    norm_position: str
    norm: str

    @classmethod
    def from_hyperparameters(cls, given: dict[str, Any]) -> Self:
        """Picks them from a model's hyper-parameters; a head's widths are D / H unless given."""
        sizes = {field.name: given[field.name] for field in fields(cls)}
        for width in ("d_k", "d_v"):
            sizes[width] = sizes[width] or given["d_model"] // given["heads"]
        return cls(**sizes)

    @property
    def attention(self) -> dict[str, Any]:
        """The arguments of a :class:`~latimer.model.attention.MultiHeadAttention`."""
        return {
            "d_model": self.d_model,
            "heads": self.heads,
            "d_k": self.d_k,
            "d_v": self.d_v,
            "dropout": self.attention_dropout,
        }

    @property
    def feed_forward(self) -> dict[str, Any]:
        """The arguments of :func:`~latimer.model.feed_forward.make_feed_forward`."""
        return {
            "activation": self.activation,
            "d_model": self.d_model,
            "d_ff": self.d_ff,
            "dropout": self.feed_forward_dropout,
        }

    @property
    def residual(self) -> dict[str, Any]:
        """The arguments of :func:`~latimer.model.residual.make_residual`."""
        return {
            "position": self.norm_position,
            "d_model": self.d_model,
            "dropout": self.dropout,
            "norm": self.norm,
        }

    @property
    def ends_with_norm(self) -> bool:
        """Whether a stack of such layers needs a norm at its end: only a pre-norm one does."""
        return RESIDUALS[self.norm_position].ends_with_norm
