import json
from itertools import islice

import numpy as np
import pytest

from benchmarks.text import lengths, sentence_pairs, write_pairs
from benchmarks.workloads import TOY, configuration, make_corpus, settings
from benchmarks.workloads import test_lines as lines_to_translate
from latimer.config.run import warnings


def test_lengths_are_those_of_multi30k():
    source, target = lengths(100_000, np.random.default_rng(7))
    assert source.mean() == pytest.approx(11.9, rel=0.01)
    assert target.mean() == pytest.approx(11.1, rel=0.02)
    assert source.std() == pytest.approx(3.8, rel=0.03)
    assert np.corrcoef(source, target)[0, 1] == pytest.approx(0.87, abs=0.03)
    assert source.min() >= 1
    assert max(source.max(), target.max()) <= 40


def test_the_same_seed_gives_the_same_text():
    first, again, other = (list(islice(sentence_pairs(seed), 20)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_frequent_words_are_as_frequent_as_in_languages():
    words = " ".join(source for source, _ in islice(sentence_pairs(1), 5_000)).split()
    counts = sorted(np.unique(words, return_counts=True)[1], reverse=True)
    assert counts[0] > 20 * counts[100]
    assert len(counts) > 3_000


def test_pairs_are_written_line_by_line(tmp_path):
    pairs = sentence_pairs(1)
    write_pairs(tmp_path, "train", pairs, 30)
    write_pairs(tmp_path, "test", pairs, 5)
    read = {
        name: (tmp_path / name).read_text(encoding="utf-8").split("\n")[:-1]
        for name in ("train.en", "train.de", "test.en", "test.de")
    }
    written = list(islice(sentence_pairs(1), 35))
    assert list(zip(read["train.en"], read["train.de"], strict=True)) == written[:30]
    assert list(zip(read["test.en"], read["test.de"], strict=True)) == written[30:]


def test_a_corpus_is_made_once_and_its_settings_are_valid(tmp_path):
    make_corpus(TOY, tmp_path)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    make_corpus(TOY, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files
    config = configuration(settings(TOY, tmp_path, "float32"))
    assert config.batches.max_tokens == TOY.max_tokens
    assert config.data.test == {}
    assert len(lines_to_translate(TOY, tmp_path)) == 1_000
    json.dumps(TOY)
    assert not warnings(config)
