"""Of three systems, each has its own tests against the first, in the way that it was scored."""

import re
from pathlib import Path

import pytest

from latimer.decoding import Hypothesis
from latimer.evaluation.comparison import compare
from latimer.evaluation.result import Result
from latimer.scoring import paired_scores, score
from latimer.screen import Screen
from latimer.translation import Translation

FOUND = Hypothesis(ids=(5,), log_probability=-1.0, score=-1.0, finished=True)
NAMES = ("one", "two", "three")


@pytest.fixture(autouse=True)
def few_resamplings(monkeypatch):
    monkeypatch.setattr("latimer.scoring.paired.TRIALS", 50)


@pytest.fixture(scope="module")
def systems(make_sentences):
    """References, and three systems, the second of which is half right and all in capitals."""
    references = [f"The {line}, too." for line in make_sentences(24, 1)]
    wrong, other = make_sentences(24, 2), make_sentences(24, 3)
    half = [*references[:12], *wrong[12:]]
    return references, [wrong, [text.upper() for text in half], [*references[:4], *other[4:]]]


def make_result(name, texts, references, scoring):
    options = {key: scoring[key] for key in ("bleu_tokenizer", "lowercase")}
    return Result(
        test_set="news",
        system=name,
        sources=references,
        references=references,
        translations=[Translation(text, (FOUND,)) for text in texts],
        scores=score(texts, references, target_language="en", bootstrap=0, **options),
        copy_bleu=0.0,
        seconds=1.0,
        folder=Path("/results") / name,
        origin={"checkpoint_sha256": f"hash of {name}", "scoring": scoring},
        about={"checkpoint": f"/{name}.ckpt", "target_language": "en"},
    )


WAYS = {
    "usual": {"bleu_tokenizer": None, "lowercase": False},
    "lower-cased": {"bleu_tokenizer": None, "lowercase": True},
    "tokenised": {"bleu_tokenizer": "none", "lowercase": False},
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_each_has_its_own_tests_against_the_first(systems, way, capsys):
    references, texts = systems
    scoring = {"bootstrap": 50, **way}
    results = [make_result(*each, references, scoring) for each in zip(NAMES, texts, strict=True)]
    comparison = compare(results)
    comparison.show(Screen())
    shown = capsys.readouterr().out
    expected = paired_scores(texts, references, target_language="en", bootstrap=50, **way)
    first, *others = comparison.results
    assert first.compared_with is None
    assert len({paired.metric.score for paired in expected[0]}) == 3
    for number, other in enumerate(others, start=1):
        compared = other.compared_with
        assert compared["checkpoint"] == "/one.ckpt"
        assert compared["checkpoint_sha256"] == "hash of one"
        for metric in expected:
            own, difference = metric[number].metric, metric[number].difference
            assert compared["differences"][own.name] == {
                "score": difference.score,
                "confidence_95": list(difference.confidence),
                "lines_that_differ": difference.lines,
                "p_bootstrap": difference.p_bootstrap,
                "p_randomisation": difference.p_randomisation,
            }
            cells = [NAMES[number], f"{own.score:.2f}", f"{difference.score:+.2f}"]
            cells += [
                f"{difference.p_bootstrap:.4f}",
                f"{difference.p_randomisation:.4f}",
            ]
            # A score and a difference are followed by their intervals.
            assert re.search(r"│ +" + r" +(?:\([^)]*\) +)?│ +".join(map(re.escape, cells)), shown)
        bleu = expected[0][number].difference.score
        assert bleu == pytest.approx(other.scores.bleu.score - first.scores.bleu.score)


def test_one_alone_and_results_without_resampling_are_not_tested(systems):
    references, texts = systems
    scoring = {"bootstrap": 50, **WAYS["usual"]}
    alone = make_result("one", texts[0], references, scoring)
    assert compare([alone]).scores == ()
    plain = [
        make_result(name, each, references, {**scoring, "bootstrap": 0})
        for name, each in zip(NAMES, texts, strict=True)
    ]
    assert compare(plain).scores == ()
    assert [result.compared_with for result in compare(plain).results] == [None] * 3
