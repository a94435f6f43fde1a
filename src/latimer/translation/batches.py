"""Which sentences are translated together."""

from collections.abc import Iterator, Sequence


def batches_by_length(
    lengths: Sequence[int], *, beams: int, max_tokens: int
) -> Iterator[list[int]]:
    """Yields the row numbers of batches of similar length, the longest sentences first.

    Sentences of length 0 are in no batch, all others in exactly one. The longest go first, so that
    what does not fit into memory fails at once.

    Args:
        lengths: pieces of each source, without eos; 0 for a sentence not to be translated.
        beams: K.
        max_tokens: the budget of rows · (longest source + eos) · K; a sentence beyond it stands
            alone.
    """
    rows = sorted(
        (row for row in range(len(lengths)) if lengths[row]), key=lambda row: -lengths[row]
    )
    batch: list[int] = []
    for row in rows:
        if batch and (len(batch) + 1) * (lengths[batch[0]] + 1) * beams > max_tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
