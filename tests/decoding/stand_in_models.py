"""Models whose logits are a function of source and prefix: tables by hand, and seeded noise."""

import math
import zlib

import torch

PAD, UNK, BOS, EOS, A, B, C = range(7)
LETTERS = {"a": A, "b": B, "c": C, "": EOS}
NAMES = {A: "a", B: "b", C: "c"}
V = 7


class PrefixCache:
    """Keeps every beam's whole prefix, so a wrong reordering gives a wrong prefix."""

    def __init__(self, source):
        self.width = source.shape[1]
        self.sources = [tuple(i for i in row if i != PAD) for row in source.tolist()]
        self.prefixes = [[()] for _ in self.sources]

    def reorder_beams(self, parents):
        self.prefixes = [
            [old[k] for k in row] for old, row in zip(self.prefixes, parents.tolist(), strict=True)
        ]

    def keep_sentences(self, sentences):
        self.sources = [self.sources[b] for b in sentences.tolist()]
        self.prefixes = [self.prefixes[b] for b in sentences.tolist()]


class PrefixModel:
    """``logits(source, prefix)`` gives V logits; the prefix begins with bos.

    ``attention(source, prefix)`` gives one weight for each piece of the source and its eos.
    """

    def __init__(self, logits, attention=None):
        self.logits = logits
        self.attention = attention
        self.steps = []

    def start(self, source):
        return PrefixCache(source)

    def step(self, last_ids, cache):
        self.steps.append(tuple(last_ids.shape))
        cache.prefixes = [
            [(*prefix, last) for prefix, last in zip(prefixes, row, strict=True)]
            for prefixes, row in zip(cache.prefixes, last_ids.tolist(), strict=True)
        ]
        return torch.stack(
            [
                torch.stack([self.logits(source, prefix) for prefix in prefixes])
                for source, prefixes in zip(cache.sources, cache.prefixes, strict=True)
            ]
        )

    def step_with_attention(self, last_ids, cache):
        logits = self.step(last_ids, cache)
        weights = torch.zeros(*last_ids.shape, cache.width)
        for b, (source, prefixes) in enumerate(zip(cache.sources, cache.prefixes, strict=True)):
            for k, prefix in enumerate(prefixes):
                weights[b, k, : len(source)] = self.attention(source, prefix)
        return logits, weights


def table_model(table, rest=None):
    """Probabilities by hand: ``{"a": {"b": 0.7, "": 0.3}}`` says what follows the text "a".

    "" is eos. ``rest`` is what follows every text that the table does not name.
    """

    def logits(source, prefix):
        text = "".join(NAMES.get(i, "?") for i in prefix[1:])
        row = torch.full((V,), -math.inf)
        for letter, probability in table.get(text, rest or {"": 1.0}).items():
            row[LETTERS[letter]] = math.log(probability)
        return row

    return PrefixModel(logits, lambda source, prefix: torch.full((len(source),), 1 / len(source)))


def noise_model(seed=0, vocab_size=V, end_bias=0.0, scale=1.5):
    """Logits and attention that look random and depend on the source and the whole prefix."""

    def noise(size, *key):
        seed = zlib.crc32(repr(key).encode())
        return torch.randn(size, generator=torch.Generator().manual_seed(seed)) * scale

    def logits(source, prefix):
        row = noise(vocab_size, seed, source, prefix)
        row[EOS] += end_bias
        return row

    def attention(source, prefix):
        return noise(len(source), seed, prefix, source).softmax(-1)

    return PrefixModel(logits, attention)


def sources(lengths, seed=0):
    """One source of random pieces and eos for each length, padded; (B, S)."""
    generator = torch.Generator().manual_seed(seed)
    width = max(lengths) + 1
    rows = []
    for length in lengths:
        pieces = torch.randint(A, 50, (length,), generator=generator).tolist()
        rows.append([*pieces, EOS] + [PAD] * (width - length - 1))
    return torch.tensor(rows)
