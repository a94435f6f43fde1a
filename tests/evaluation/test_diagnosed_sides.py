"""A page's figures are made of the side and with the tokenizer that they tell of."""

from pathlib import Path

import pytest
from sacrebleu.metrics.chrf import CHRF

from latimer.decoding import SearchSettings
from latimer.evaluation.diagnosis import diagnose
from latimer.evaluation.result import Result
from latimer.reports.groups import by_length, by_rarity
from latimer.reports.rare_words import find_recall
from latimer.scoring import PartScorer, score
from latimer.translation import Translator

SETTINGS = SearchSettings(beam_size=2, max_length_offset=2)
WAYS = {
    "usual": {"bleu_tokenizer": None, "lowercase": False},
    "lower-cased, tokenised": {"bleu_tokenizer": "none", "lowercase": True},
}


@pytest.fixture(scope="module")
def translator(make_model, separate_tokenizers):
    """Of a model that writes capitals."""
    model = make_model(**separate_tokenizers.vocab_sizes)
    return Translator(model, separate_tokenizers, SETTINGS, max_tokens=2000)


@pytest.fixture(scope="module")
def lines(make_sentences):
    """Sources, and references that are longer; in some lines, rarer words, too."""
    sources = make_sentences(16, 1)
    references = [f"{line}, the {line}.".upper() for line in make_sentences(16, 2)]
    references[::5] = ["the old kettle, ZQXZ."] * len(references[::5])
    return sources, references


def make_result(translator, sources, references, way):
    found = translator.translations(sources)
    texts = [translation.text for translation in found]
    return Result(
        test_set="news",
        sources=sources,
        references=references,
        translations=found,
        scores=score(texts, references, target_language="yy", bootstrap=0, **way),
        copy_bleu=0.0,
        seconds=1.0,
        folder=Path("news"),
        origin={"checkpoint_sha256": "x", "scoring": {"bootstrap": 0, **way}},
        about={
            "date": "2026-01-31",
            "checkpoint": "/one.ckpt",
            "ensemble": None,
            "updates": 1,
            "source_language": "xx",
            "target_language": "yy",
            "device": "cpu",
            "precision": "float32",
        },
    )


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_each_figure_has_its_own_side(translator, lines, way):
    sources, references = lines
    source_tokenizer, target_tokenizer = translator.tokenizers
    result = make_result(translator, sources, references, way)
    report = diagnose([result], [translator], [])
    [system] = report.systems
    lengths = by_length(sources, "xx")
    assert [group.label for group in report.lengths] == [*lengths] != [*by_length(references, "xx")]
    rarity = by_rarity(sources, "xx", source_tokenizer)
    assert [group.label for group in report.rarity] == [*rarity]
    assert [*rarity] != [*by_rarity(sources, "xx", target_tokenizer)]
    for groups, rows in ((report.lengths, lengths), (report.rarity, rarity)):
        for group, chosen in zip(groups, rows.values(), strict=True):
            texts = [[side[row] for row in chosen] for side in (result.texts, references)]
            own = score(*texts, target_language="yy", bootstrap=0, **way)
            assert group.scores[0].bleu == own.bleu
            assert group.scores[0].chrf == pytest.approx(own.chrf.score)

    scorer = PartScorer(target_language="yy", bootstrap=0, **way)
    systems = [result.texts]
    assert report.recall == find_recall(systems, references, target_tokenizer, scorer)
    assert report.recall != find_recall(systems, references, source_tokenizer, scorer)
    metric = CHRF(word_order=2, lowercase=way["lowercase"])
    theirs = [
        metric.sentence_score(text, [reference]).score
        for text, reference in zip(result.texts, references, strict=True)
    ]
    assert system.sentence_scores == pytest.approx(theirs, abs=1e-9)
    assert system.greedy.bleu[1] == pytest.approx(result.scores.bleu.score)
    for view in system.alignments:
        assert view.source == tuple(sources[view.row].split())
        assert view.target == tuple(result.texts[view.row].split())
