"""The Transformer's hyper-parameters."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from latimer.config.base import Section

Size = Annotated[int, Field(ge=1)]
Probability = Annotated[float, Field(ge=0, lt=1)]


class ModelConfig(Section):
    """What the network is made of: the columns of the paper's Table 3, and departures.

    Attributes:
        d_model: D, width of embeddings and layers; even: a position takes sines and cosines.
        d_k: width of a head's queries and keys; None for D / H.
        d_v: width of a head's values; None for D / H.
        heads: H, attention heads of a layer.
        d_ff: width of the feed-forward layers' inside.
        encoder_layers: layers of the encoder.
        decoder_layers: layers of the decoder.
        activation: ReLU (section 3.3), GELU, or SwiGLU, which has two inner matrices of d_ff.
        dropout: share of values zeroed where section 5.4 says so.
        attention_dropout: share of attention weights zeroed; the paper names none.
        feed_forward_dropout: share of the feed-forward's inner values zeroed; likewise.
        norm_position: after the residual sum ("post", the paper) or before the sub-layer ("pre").
        norm: layer normalisation (the paper) or root-mean-square normalisation.
        positions: sinusoids of any length (section 3.5), learned vectors (Table 3, row E), or
            rotated queries and keys of any length, whose width must be even.
        max_length: number of learned positions; None with the others.
        tying: which of source embedding, target embedding and output share one matrix.
    """

    d_model: int = Field(ge=2, multiple_of=2)
    d_k: Size | None
    d_v: Size | None
    heads: Size
    d_ff: Size
    encoder_layers: Size
    decoder_layers: Size
    activation: Literal["relu", "gelu", "swiglu"]
    dropout: Probability
    attention_dropout: Probability
    feed_forward_dropout: Probability
    norm_position: Literal["post", "pre"]
    norm: Literal["layer", "rms"]
    positions: Literal["sinusoidal", "learned", "rotary"]
    max_length: Size | None
    tying: Literal["none", "decoder", "all"]

    @field_validator("heads")
    @classmethod
    def _divides_d_model(cls, heads: int, before: ValidationInfo) -> int:
        known = before.data
        needed = known.get("d_k", 1) is None or known.get("d_v", 1) is None
        if needed and known.get("d_model", 0) % heads:
            raise ValueError(
                f"must divide d_model={known['d_model']}, unless d_k and d_v are both given"
            )
        return heads

    @field_validator("positions")
    @classmethod
    def _can_rotate(cls, positions: str, before: ValidationInfo) -> str:
        known = before.data
        if positions != "rotary" or not {"d_model", "heads", "d_k"} <= known.keys():
            return positions
        d_k = known["d_k"] or known["d_model"] // known["heads"]
        if d_k % 2:
            raise ValueError(
                f"turns pairs of numbers, but a head's queries and keys have d_k={d_k} of them; "
                "write an even d_k, or other heads"
            )
        return positions

    @field_validator("max_length")
    @classmethod
    def _belongs_to_learned_positions(
        cls, max_length: int | None, before: ValidationInfo
    ) -> int | None:
        positions = before.data.get("positions")
        if positions == "learned" and max_length is None:
            raise ValueError("must be a whole number with positions=learned")
        if positions in ("sinusoidal", "rotary") and max_length is not None:
            raise ValueError(f"must be null with positions={positions}, which have no end")
        return max_length
