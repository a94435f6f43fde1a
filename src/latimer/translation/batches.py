"""Which sentences are translated together."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from latimer.tokenizer import EOS_ID, PAD_ID

# A hypothesis may be longer than its source, and each position has logits over the vocabulary: a
# shorter source counts for as many pieces, lest thousands of words are followed at once.
SHORTEST = 16


def batches_by_length(
    lengths: Sequence[int], *, beams: int, max_tokens: int
) -> Iterator[list[int]]:
    """Yields the row numbers of batches of similar length, the longest sentences first.

    Sentences of length 0 are in no batch, all others in exactly one. The longest go first, so that
    what does not fit into memory fails at once.

    Args:
        lengths: pieces of each source, without eos; 0 for a sentence not to be translated.
        beams: K.
        max_tokens: the budget of rows · (longest source + eos) · K, with a longest source of 16 at
            least; a sentence beyond it stands alone.
    """
    rows = sorted(
        (row for row in range(len(lengths)) if lengths[row]), key=lambda row: -lengths[row]
    )
    batch: list[int] = []
    for row in rows:
        longest = max(lengths[batch[0]] + 1, SHORTEST) if batch else 0
        if batch and (len(batch) + 1) * longest * beams > max_tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def padded(sources: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """The pieces of each source and eos, padded on the right, (B, S) long."""
    rows = [torch.tensor([*ids, EOS_ID]) for ids in sources]
    return pad_sequence(rows, batch_first=True, padding_value=PAD_ID).to(device)
