"""Marian of Hugging Face's transformers, from the extra ``bench``, in the size of ours."""

import importlib.util
from typing import Any

from torch import Tensor, nn

from latimer.config.model import ModelConfig
from latimer.tokenizer import BOS_ID, EOS_ID, PAD_ID

POSITIONS = 2_048


def installed() -> bool:
    """Whether transformers is there."""
    return importlib.util.find_spec("transformers") is not None


def make_marian(config: ModelConfig, vocab_size: int) -> Any:
    """A ``MarianMTModel`` with random weights.

    Beside ours, its attention has biases.
    """
    from transformers import MarianConfig, MarianMTModel  # noqa: PLC0415 (an extra)

    return MarianMTModel(
        MarianConfig(
            vocab_size=vocab_size,
            d_model=config.d_model,
            encoder_layers=config.encoder_layers,
            decoder_layers=config.decoder_layers,
            encoder_attention_heads=config.heads,
            decoder_attention_heads=config.heads,
            encoder_ffn_dim=config.d_ff,
            decoder_ffn_dim=config.d_ff,
            dropout=config.dropout,
            attention_dropout=0.0,
            activation_dropout=0.0,
            activation_function="relu",
            scale_embedding=True,
            init_std=config.d_model**-0.5,
            max_position_embeddings=POSITIONS,
            pad_token_id=PAD_ID,
            bos_token_id=BOS_ID,
            eos_token_id=EOS_ID,
            forced_eos_token_id=EOS_ID,
            decoder_start_token_id=BOS_ID,
            share_encoder_decoder_embeddings=True,
            tie_word_embeddings=True,
        )
    )


class Marian(nn.Module):
    """The same as a function of source and target ids."""

    def __init__(self, config: ModelConfig, vocab_size: int) -> None:
        super().__init__()
        self.model = make_marian(config, vocab_size)

    def forward(self, source: Tensor, target_input: Tensor) -> Tensor:
        """Ids (B, S) and (B, T) to logits (B, T, V)."""
        logits: Tensor = self.model(
            input_ids=source,
            attention_mask=source != PAD_ID,
            decoder_input_ids=target_input,
            decoder_attention_mask=target_input != PAD_ID,
            use_cache=False,
        ).logits
        return logits
