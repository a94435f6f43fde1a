"""Floating-point operations of matrix products: by formula, and as PyTorch counts them."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.plain_loop import plain_loss
from benchmarks.torch_model import TorchTransformer
from latimer.config.model import ModelConfig
from latimer.data.encoded import Batch
from latimer.model.masks import PAD_ID

FORWARD_AND_BACKWARD = 3
"""A backward pass has two products for each one of the forward pass."""


def training_flops(
    config: ModelConfig, vocab_size: int, *, sentences: int, source: int, target: int
) -> int:
    """Of a forward and a backward pass on pairs of one length; a multiply-add counts as two.

    The heads share d_model, and the activation has no gate. Elementwise work isn't counted.

    Args:
        config: the model.
        vocab_size: V.
        sentences: B.
        source: S, eos included.
        target: T, likewise.
    """
    width, inner = config.d_model, config.d_ff
    projection, feed_forward = 2 * width * width, 4 * width * inner
    encoder_layer = source * (4 * projection + feed_forward) + 4 * source * source * width
    decoder_layer = (
        target * (6 * projection + feed_forward)
        + source * 2 * projection
        + 4 * target * (target + source) * width
    )
    forward = (
        config.encoder_layers * encoder_layer
        + config.decoder_layers * decoder_layer
        + target * 2 * width * vocab_size
    )
    return FORWARD_AND_BACKWARD * sentences * forward


def useful_flops(config: ModelConfig, vocab_size: int, batch: Batch) -> int:
    """What the real pieces of a batch need, each sentence without padding."""
    real = [(ids != PAD_ID).sum(1).tolist() for ids in (batch.source, batch.labels)]
    return sum(
        training_flops(config, vocab_size, sentences=1, source=source, target=target)
        for source, target in zip(*real, strict=True)
    )


def padded_flops(config: ModelConfig, vocab_size: int, batch: Batch) -> int:
    """What the baseline computes, with every cell of the batch."""
    (sentences, source), target = batch.source.shape, batch.labels.shape[1]
    return training_flops(config, vocab_size, sentences=sentences, source=source, target=target)


def counted_flops(config: ModelConfig, vocab_size: int, batch: Batch) -> int:
    """What PyTorch counts while the baseline does it.

    With dropout, since PyTorch can't look into the CPU's fused attention, which has none.
    """
    trained = config.model_copy(update={"dropout": config.dropout or 0.1})
    model = TorchTransformer(trained, vocab_size).train()
    with FlopCounterMode(display=False) as counter, torch.enable_grad():
        plain_loss(model(batch.source, batch.target_input), batch.labels).backward()  # type: ignore[no-untyped-call]
    return int(counter.get_total_flops())
