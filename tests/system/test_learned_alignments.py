"""A model that has learnt to translate word by word attends to the word that it translates."""

import random

import pytest
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

from latimer.model import Transformer
from latimer.scoring.alignment_error import GoldAlignment, alignment_error_rate
from latimer.tokenizer import BOS_ID, EOS_ID, Tokenizers, train_tokenizer
from latimer.translation.alignments import Aligner, PiecedText
from toy_run import WORDS

UPDATES = 300


def word_by_word(pairs, seed):
    """Sentences of 3 to 7 different words, and the translation of each word in its place."""
    dice = random.Random(seed)
    sources = [dice.sample(sorted(WORDS), k=dice.randint(3, 7)) for _ in range(pairs)]
    return [(" ".join(words), " ".join(WORDS[word] for word in words)) for words in sources]


def pad(rows):
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True)


def train(model, pairs):
    """The model, once it has seen 32 of the pairs so many times."""
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.02, total_iters=50)
    dice = random.Random(3)
    for _ in range(UPDATES):
        batch = dice.sample(pairs, 32)
        source = pad([[*source, EOS_ID] for source, _ in batch])
        logits = model(source, pad([[BOS_ID, *target] for _, target in batch]))
        labels = pad([[*target, EOS_ID] for _, target in batch])
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        warmup.step()
    return model.eval()


@pytest.mark.slow
def test_a_word_by_word_translation_is_aligned_along_the_diagonal():
    pairs = word_by_word(500, seed=1)
    tokenizer = train_tokenizer((text for pair in pairs for text in pair), vocab_size=110)
    torch.manual_seed(1)
    sizes = {"d_model": 64, "heads": 1, "d_ff": 128, "encoder_layers": 1, "decoder_layers": 1}
    model = Transformer(**sizes, **Tokenizers.joint(tokenizer).vocab_sizes, dropout=0.0)
    train(model, [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in pairs])

    unseen = word_by_word(30, seed=2)
    read = [tuple(PiecedText.read(text, tokenizer) for text in pair) for pair in unseen]
    pieces = sum(len(source.ids) for source, _ in read)
    assert pieces > 1.1 * sum(len(source.split()) for source, _ in unseen), "words are not cut"
    gold = [
        GoldAlignment(sure={(word, word) for word in range(len(source.split()))})
        for source, _ in unseen
    ]
    writing, reading = (
        alignment_error_rate(gold, map(set, Aligner(model, reading=step).align(read)))
        for step in (False, True)
    )
    # With one layer, the step that reads a piece already looks for the next one.
    assert writing < 0.25
    assert reading > 0.6
