"""The Transformer: encoder, decoder, shared embeddings and the pre-softmax matrix (section 3)."""

from typing import Any

import torch
from torch import Tensor, nn

from latimer.model.attention_weights import AttentionWeights, recorded_weights
from latimer.model.cache import DecoderCache
from latimer.model.decoder import Decoder
from latimer.model.embeddings import Embedding, make_vocabulary_matrices
from latimer.model.encoder import Encoder
from latimer.model.hyperparameters import LayerSizes, check_hyperparameters
from latimer.model.masks import causal_mask, padding_mask
from latimer.model.positions import make_positions


class Transformer(nn.Module):
    """The encoder-decoder of the paper; its defaults are the paper's base model.

    Args:
        source_vocab_size: V of the source; equal to the target's when ``tying`` is "all".
        target_vocab_size: V of the target.
        d_model: D, the width of every state.
        heads: H.
        d_k: width of a query and a key in one head; None for D / H.
        d_v: width of a value in one head; None for D / H.
        d_ff: inner width of the feed-forward network, of both its inner matrices with "swiglu".
        encoder_layers: N of the encoder.
        decoder_layers: N of the decoder.
        activation: "relu" (the paper's), "gelu" or "swiglu".
        dropout: probability, on sub-layer outputs and on embedding + position sums (section 5.4).
        attention_dropout: probability, on attention weights; the paper names none.
        feed_forward_dropout: probability, inside the feed-forward network; the paper names none.
        norm_position: "post" (the paper's) or "pre".
        norm: "layer" (the paper's) or "rms".
        positions: "sinusoidal" (the paper's), "learned", or "rotary", which needs an even d_k.
        max_length: number of learned positions; None with the others, which know no limit.
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
        activation: str = "relu",
        dropout: float = 0.1,
        attention_dropout: float = 0.0,
        feed_forward_dropout: float = 0.0,
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
        sizes = LayerSizes.from_hyperparameters(hyperparameters)
        source_positions, target_positions = (
            make_positions(positions, d_model=d_model, d_k=sizes.d_k, max_length=max_length)
            for _ in ("source", "target")
        )
        self.encoder = Encoder(sizes, encoder_layers, source_positions)
        self.decoder = Decoder(sizes, decoder_layers, target_positions)
        source_pieces, target_pieces, self.output = make_vocabulary_matrices(
            source_vocab_size, target_vocab_size, d_model, tying
        )
        self.source_embedding = Embedding(source_pieces, source_positions, dropout)
        self.target_embedding = Embedding(target_pieces, target_positions, dropout)
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

    def step_with_attention(self, last_ids: Tensor, cache: DecoderCache) -> tuple[Tensor, Tensor]:
        """What :meth:`step` gives; and how much each beam reads of each source position, (B, K, S).

        That is the mean of the heads of the last decoder layer; a row sums to one.
        """
        return self.step(last_ids, cache), cache.attention

    @torch.no_grad()
    def attention_weights(self, source: Tensor, target_input: Tensor) -> AttentionWeights:
        """Who attends to whom, in each layer and head, with the whole target known.

        Arguments as in :meth:`forward`. In training mode, the dropouts of the moment have their
        part in it: call ``eval()`` before.
        """
        with recorded_weights(self.encoder) as encoder, recorded_weights(self.decoder) as decoder:
            self.states(source, target_input)
        return AttentionWeights(
            encoder=torch.stack(encoder),
            # Each decoder layer attends to the target first, then to the source.
            decoder=torch.stack(decoder[0::2]),
            cross=torch.stack(decoder[1::2]),
        )


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
