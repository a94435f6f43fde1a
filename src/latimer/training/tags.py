"""The names of everything that is logged: one name for a thing, here and nowhere else.

TensorBoard's x axis is optimizer updates for all of them.
"""

TRAIN_LOSS = "train/loss"
"""Label-smoothed loss, nats per target piece, mean since the last entry."""
TRAIN_NLL = "train/nll"
"""Negative log-likelihood without smoothing, nats per target piece, mean since the last entry."""
TRAIN_LEARNING_RATE = "train/learning_rate"
"""The rate of the newest update."""
TRAIN_GRAD_NORM = "train/grad_norm"
"""Euclidean norm of the newest update's gradient, before clipping."""
TRAIN_TOKENS_PER_SECOND = "train/tokens_per_second"
"""Target pieces (eos included, padding not) per second of training, validation left out."""
TRAIN_PADDING = "train/padding"
"""Share of padding among the cells of both sides, since the last entry."""

VAL_NLL = "val/nll"
"""Negative log-likelihood of the whole validation set, nats per target piece, eos included."""
VAL_PERPLEXITY = "val/perplexity"
"""e to the power of val/nll."""
VAL_BLEU = "val/bleu"
"""BLEU, 0 to 100, of beam search on the validation subset."""
VAL_CHRF = "val/chrf"
"""chrF2++, 0 to 100, of the same hypotheses."""
VAL_LENGTH_RATIO = "val/length_ratio"
"""Length of the same hypotheses divided by that of their references, in BLEU's tokens."""

SAMPLES = "val/samples"
"""Some sources, references and hypotheses, as text."""
CROSS_ATTENTION = "val/cross_attention"
"""Followed by /1, /2, …: reference to source, a panel for each layer, as images."""

TRAIN_TAGS = (
    TRAIN_LOSS,
    TRAIN_NLL,
    TRAIN_LEARNING_RATE,
    TRAIN_GRAD_NORM,
    TRAIN_TOKENS_PER_SECOND,
    TRAIN_PADDING,
)
VALIDATION_TAGS = (VAL_NLL, VAL_PERPLEXITY, VAL_BLEU, VAL_CHRF, VAL_LENGTH_RATIO)
