"""The baseline: ``torch.nn.Transformer``, wired as its users wire it."""

import math

import torch
from torch import Tensor, nn

from latimer.config.model import ModelConfig
from latimer.model.masks import PAD_ID

POSITIONS = 2_048


class TorchTransformer(nn.Module):
    """The paper's model around ``torch.nn.Transformer``, with one matrix for all embeddings.

    Beside ours, which has the paper's equations, its attention has biases and each of its stacks
    ends with a norm; its dropout also acts on attention weights and inside the feed-forward
    network, which it has no argument to prevent.
    """

    positions: Tensor

    def __init__(self, config: ModelConfig, vocab_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, config.d_model, padding_idx=PAD_ID)
        self.dropout = nn.Dropout(config.dropout)
        self.transformer = nn.Transformer(
            config.d_model,
            config.heads,
            config.encoder_layers,
            config.decoder_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
        )
        self.output = nn.Linear(config.d_model, vocab_size, bias=False)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.output.weight = self.embedding.weight
        self.register_buffer("positions", sinusoids(config.d_model), persistent=False)

    def forward(self, source: Tensor, target_input: Tensor) -> Tensor:
        """Ids (B, S) and (B, T) to logits (B, T, V)."""
        length = target_input.shape[1]
        future = torch.ones(length, length, dtype=torch.bool, device=source.device).triu(1)
        states = self.transformer(
            self._embed(source),
            self._embed(target_input),
            tgt_mask=future,
            src_key_padding_mask=source == PAD_ID,
            tgt_key_padding_mask=target_input == PAD_ID,
            memory_key_padding_mask=source == PAD_ID,
        )
        logits: Tensor = self.output(states)
        return logits

    def _embed(self, ids: Tensor) -> Tensor:
        vectors = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        embedded: Tensor = self.dropout(vectors + self.positions[: ids.shape[1]])
        return embedded


def sinusoids(d_model: int) -> Tensor:
    """The paper's encodings of all positions, (POSITIONS, D)."""
    frequencies = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10_000.0) / d_model))
    angles = torch.arange(POSITIONS).unsqueeze(1) * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
