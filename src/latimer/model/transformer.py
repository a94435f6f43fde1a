"""The Transformer: encoder, decoder, shared embeddings and the pre-softmax matrix (section 3)."""

from typing import Any

import torch
from torch import Tensor, nn

from latimer.model.cache import DecoderCache
from latimer.model.decoder import Decoder
from latimer.model.embeddings import Embedding, make_positions
from latimer.model.encoder import Encoder
from latimer.model.hyperparameters import LayerSizes, check_hyperparameters
from latimer.model.masks import causal_mask, padding_mask


class Transformer(nn.Module):
    """The encoder-decoder of the paper; its defaults are the paper's base model.

    Args:
        source_vocab_size: V of the source; equal to the target's when ``tying`` is "all".
        target_vocab_size: V of the target.
        d_model: D, the width of every state.
        heads: H.
        d_k: width of a query and a key in one head; None for D / H.
        d_v: width of a value in one head; None for D / H.
        d_ff: inner width of the feed-forward network.
        encoder_layers: N of the encoder.
        decoder_layers: N of the decoder.
        dropout: probability, on sub-layer outputs and on embedding + position sums (section 5.4).
        norm_position: "post" (the paper's) or "pre".
        norm: "layer" (the paper's) or "rms".
        positions: "sinusoidal" (the paper's) or "learned".
        max_length: number of learned positions; None with sinusoids, which know no limit.
        tying: which matrices are one: "all" (both embeddings and the pre-softmax matrix, section
            3.4), "decoder" (the target's embedding and the pre-softmax matrix), or "none".

    Raises:
        ValueError: hyper-parameters that do not go together.
    """

    def __init__(  # noqa: PLR0913 - the columns of Table 3, each by its name
        self,
        *,
        source_vocab_size: int,
        target_vocab_size: int,
        d_model: int = 512,
        heads: int = 8,
        d_k: int | None = None,
        d_v: int | None = None,
        d_ff: int = 2048,
        encoder_layers: int = 6,
        decoder_layers: int = 6,
        dropout: float = 0.1,
        norm_position: str = "post",
        norm: str = "layer",
        positions: str = "sinusoidal",
        max_length: int | None = None,
        tying: str = "all",
    ) -> None:
        hyperparameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        self.hyperparameters: dict[str, Any] = hyperparameters
        check_hyperparameters(hyperparameters)
        sizes = LayerSizes(
            d_model=d_model,
            heads=heads,
            d_k=d_k or d_model // heads,
            d_v=d_v or d_model // heads,
            d_ff=d_ff,
            dropout=dropout,
            norm_position=norm_position,
            norm=norm,
        )
        self.encoder = Encoder(sizes, encoder_layers)
        self.decoder = Decoder(sizes, decoder_layers)
        source_pieces, target_pieces, self.output = _make_vocabulary_matrices(
            source_vocab_size, target_vocab_size, d_model, tying
        )
        self.source_embedding = Embedding(
            source_pieces, make_positions(positions, d_model, max_length), dropout
        )
        self.target_embedding = Embedding(
            target_pieces, make_positions(positions, d_model, max_length), dropout
        )
        self.apply(_initialise)

    def forward(self, source: Tensor, target_input: Tensor) -> Tensor:
        """The logits of every next piece, with the whole target known (teacher forcing).

        Args:
            source: (B, S) ids, padded with 0.
            target_input: (B, T) ids: bos and the target, padded with 0.

        Returns:
            (B, T, V).
        """
        return self.logits(self.states(source, target_input))

    def states(self, source: Tensor, target_input: Tensor) -> Tensor:
        """The decoder's last states (B, T, D), before the pre-softmax matrix."""
        may_attend = padding_mask(target_input) & causal_mask(
            target_input.shape[1], target_input.device
        )
        states: Tensor = self.decoder(
            self.target_embedding(target_input),
            self.encode(source),
            may_attend,
            padding_mask(source),
        )
        return states

    def encode(self, source: Tensor) -> Tensor:
        """The memory (B, S, D) of source ids (B, S)."""
        memory: Tensor = self.encoder(self.source_embedding(source), padding_mask(source))
        return memory

    def logits(self, states: Tensor) -> Tensor:
        """Decoder states (…, D) to logits (…, V)."""
        logits: Tensor = self.output(states)
        return logits

    def start(self, source: Tensor) -> DecoderCache:
        """Encodes source ids (B, S) for decoding step by step."""
        return self.decoder.start(self.encode(source), padding_mask(source))

    def step(self, last_ids: Tensor, cache: DecoderCache) -> Tensor:
        """One step: the newest ids (B, K) of every beam to logits (B, K, V) of the next."""
        rows = self.target_embedding(last_ids.reshape(-1, 1), first=cache.length)
        return self.logits(self.decoder.step(rows.view(*last_ids.shape, -1), cache))


def _make_vocabulary_matrices(
    source_vocab_size: int, target_vocab_size: int, d_model: int, tying: str
) -> tuple[nn.Embedding, nn.Embedding, nn.Linear]:
    """The source's and target's embeddings and the pre-softmax matrix, tied as asked."""
    if tying not in ("none", "decoder", "all"):
        raise ValueError(f"tying: {tying!r} is not one of none, decoder, all")
    if tying == "all" and source_vocab_size != target_vocab_size:
        raise ValueError(
            f"tying=all shares one matrix, but the source has {source_vocab_size} pieces "
            f"and the target {target_vocab_size}"
        )
    target = nn.Embedding(target_vocab_size, d_model)
    source = target if tying == "all" else nn.Embedding(source_vocab_size, d_model)
    output = nn.Linear(d_model, target_vocab_size, bias=False)
    if tying != "none":
        output.weight = target.weight
    return source, target, output


def _initialise(module: nn.Module) -> None:
    """Glorot for projections; D^-0.5 for vocabularies, so that scaled embeddings are of size 1."""
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
    elif isinstance(module, nn.Linear):
        _initialise_linear(module)


def _initialise_linear(linear: nn.Linear) -> None:
    # A tied pre-softmax matrix is an embedding, and is initialised as one after this.
    torch.nn.init.xavier_uniform_(linear.weight)
    if linear.bias is not None:
        torch.nn.init.zeros_(linear.bias)
