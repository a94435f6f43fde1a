"""BLEU by hand: values known beforehand, and the sacrebleu command on the same files."""

import json
import subprocess
import sys

import pytest

from latimer.errors import LatimerError
from latimer.scoring import bleu_score, score

HYPOTHESES = [
    "The red kettle is on the stove.",
    "Nothing here matches at all today.",
    "Completely different words again now.",
]
REFERENCES = [
    "The red kettle is on the stove.",
    "A boat drifts past the old pier.",
    "Snow fell all night in the valley.",
]


def bleu(hypotheses, references, target_language="en", **settings):
    return score(
        hypotheses, references, target_language=target_language, bootstrap=0, **settings
    ).bleu.score


def command(hypotheses, references, folder, *arguments):
    """What ``sacrebleu REF -i HYP`` prints for the lines, written to files."""
    for name, lines in (("hyp.txt", hypotheses), ("ref.txt", references)):
        text = "".join(f"{line}\n" for line in lines)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    result = subprocess.run(
        [sys.executable, "-m", "sacrebleu", "ref.txt", "-i", "hyp.txt", "-w", "16", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return json.loads(result.stdout)


def test_references_have_the_right_shape():
    # field case 106: 100.0 as one list a line, 0.0 as a flat list
    assert bleu(HYPOTHESES, REFERENCES) == pytest.approx(36.33, abs=0.005)


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ([], {}),
        (["-lc"], {"lowercase": True}),
        (["-tok", "none", "-lc"], {"bleu_tokenizer": "none", "lowercase": True}),
        (["-tok", "intl"], {"bleu_tokenizer": "intl"}),
    ],
)
def test_bleu_is_that_of_the_sacrebleu_command(tmp_path, arguments, settings):
    # field cases 104 and 112: to all digits, with a number before a full stop and an empty line
    hypotheses = [*HYPOTHESES, "The shop opened in 1987 .", "", "Ein Schmetterling – bunt!  "]
    references = [*REFERENCES, "The shop opened in 1987.", "Late.", "ein Schmetterling – „bunt“"]
    printed = command(hypotheses, references, tmp_path, *arguments)
    scores = score(hypotheses, references, target_language="de", bootstrap=0, **settings)
    assert scores.bleu.score == printed["score"]
    assert scores.bleu.signature == printed["signature"]


def test_all_metrics_and_intervals_are_those_of_the_sacrebleu_command(tmp_path):
    hypotheses, references = HYPOTHESES * 5 + REFERENCES * 2, REFERENCES * 7
    arguments = ["-m", "bleu", "chrf", "ter", "--chrf-word-order", "2", "--confidence"]
    printed = command(hypotheses, references, tmp_path, *arguments)
    scores = score(hypotheses, references, target_language="en")
    ours = {metric.name: metric for metric in (scores.bleu, scores.chrf, scores.ter)}
    assert set(ours) == {"BLEU", "chrF2++", "TER"}
    for theirs in printed:
        metric = ours[theirs["name"]]
        assert metric.score == theirs["score"]
        assert metric.signature == theirs["signature"]
        low, high = metric.confidence
        # sacrebleu averages resamplings of chrF in float32
        assert (low + high) / 2 == pytest.approx(theirs["confidence_mean"], abs=1e-5)
        assert (high - low) / 2 == pytest.approx(theirs["confidence_var"], abs=1e-5)
        assert low < metric.score < high


def test_intervals_are_the_same_every_time():
    first, second = (score(HYPOTHESES * 4, REFERENCES * 4, target_language="en") for _ in "12")
    assert first == second
    assert "seed:12345" in first.bleu.signature


def test_no_bootstrap_gives_no_intervals():
    scores = score(HYPOTHESES, REFERENCES, target_language="en", bootstrap=0)
    assert scores.bleu.confidence is scores.chrf.confidence is scores.ter.confidence is None
    assert "bs:" not in scores.bleu.signature


def test_a_perfect_match_is_exactly_one_hundred():
    # field case 105: sacrebleu says 100.00000000000004
    scores = score(REFERENCES, REFERENCES, target_language="en", bootstrap=20)
    assert scores.bleu.score == scores.chrf.score == 100.0
    assert scores.bleu.confidence == scores.chrf.confidence == (100.0, 100.0)
    assert scores.ter.score == 0.0
    assert scores.length_ratio == 1.0
    assert scores.notes == ()


@pytest.mark.parametrize(("hypotheses", "references"), [(2, 3), (3, 2), (0, 3)])
def test_unequal_numbers_of_lines_are_refused_with_both(hypotheses, references):
    # field case 107: sacrebleu itself scores the shorter part
    with pytest.raises(LatimerError) as caught:
        bleu(HYPOTHESES[:hypotheses], REFERENCES[:references])
    assert f"{hypotheses} hypotheses" in str(caught.value)
    assert f"{references} references" in str(caught.value)


def test_an_empty_test_set_is_refused():
    with pytest.raises(LatimerError, match="no sentences"):
        bleu([], [])


def test_empty_hypotheses_stay_in_their_places():
    # field case 108
    with_empty = ["", *REFERENCES[1:]]
    assert bleu(with_empty, REFERENCES) < bleu(REFERENCES, REFERENCES)
    assert bleu(with_empty, REFERENCES) > bleu([*REFERENCES[1:], ""], REFERENCES)
    scores = score(["", "", ""], REFERENCES, target_language="en", bootstrap=10)
    assert scores.bleu.score == scores.chrf.score == scores.length_ratio == 0.0
    assert scores.bleu.confidence == (0.0, 0.0)
    assert scores.n == 3


def test_bleu_is_of_the_corpus_and_no_mean_of_parts():
    # field case 113
    perfect = "The red kettle is on the stove."
    hypotheses, references = [perfect, "Nothing here matches at all"], [perfect, "Snow fell"]
    parts = [bleu([h], [r]) for h, r in zip(hypotheses, references, strict=True)]
    assert parts == [100.0, 0.0]
    assert bleu(hypotheses, references) == pytest.approx(65.71, abs=0.005)


def test_a_repeated_sentence_changes_the_score():
    # field case 114
    hypotheses = [HYPOTHESES[0], "A dog ran home again", "It snows in the night now"]
    references = [REFERENCES[0], "A dog ran away.", "We sleep in the morning"]
    assert bleu(hypotheses, references) == pytest.approx(58.25, abs=0.005)
    again = bleu(hypotheses[:1] + hypotheses, references[:1] + references)
    assert again == pytest.approx(71.56, abs=0.005)


def test_the_number_of_sentences_and_the_length_ratio_are_reported():
    # field case 93: 8 words against 8, 2 against 4
    scores = score(
        ["The red kettle is on the stove.", "So it"],
        ["The red kettle is on the stove.", "So it is now"],
        target_language="en",
        bootstrap=0,
    )
    assert scores.n == 2
    assert scores.length_ratio == pytest.approx(10 / 12)


def test_a_match_without_four_words_scores_zero_and_says_why():
    # field case 110
    scores = score(["Green lamp"] * 3, ["Green lamp"] * 3, target_language="en", bootstrap=0)
    assert scores.bleu.score == 0.0
    assert scores.chrf.score == 100.0
    assert any("no matching 4-grams" in note for note in scores.notes)


@pytest.mark.parametrize(("tokenised", "plain"), [(10, 0), (9, 1), (8, 2), (100, 900)])
def test_tokenised_hypotheses_are_noted(tokenised, plain):
    # field case 104
    reference = "The red kettle is on the stove."
    hypotheses = ["The red kettle is on the stove ."] * tokenised + [reference] * plain
    noted = tokenised >= 9 * plain
    scores = score(hypotheses, [reference] * len(hypotheses), target_language="en", bootstrap=0)
    assert any("tokenised" in note for note in scores.notes) == noted


def test_lower_cased_tokenised_bleu_says_so():
    hypotheses, references = ["the red kettle is here ."], ["The red kettle is here ."]
    settings = {"bleu_tokenizer": "none", "lowercase": True}
    scores = score(hypotheses, references, target_language="en", **settings)
    assert scores.bleu.score == 100.0
    assert "case:lc" in scores.bleu.signature
    assert "tok:none" in scores.bleu.signature
    assert bleu(hypotheses, references) < 100.0


def test_an_interval_where_some_resamplings_share_nothing():
    """chrF is then sacrebleu's own 0.0 in some and NumPy's float32 in others."""
    scores = score(["red boat", "zzz"], ["red boat", "qqq"], target_language="en", bootstrap=50)
    low, high = scores.chrf.confidence
    assert low < scores.chrf.score < high
    score(["red", "boat"], ["", "red boat"], target_language="en", bootstrap=50)


@pytest.mark.parametrize("settings", [{}, {"lowercase": True}, {"bleu_tokenizer": "char"}])
def test_bleu_alone_is_the_bleu_of_all_scores(settings):
    hypotheses = ["the red Kettle is on the stove.", *HYPOTHESES[1:]]
    alone = bleu_score(hypotheses, REFERENCES, target_language="en", **settings)
    assert alone == bleu(hypotheses, REFERENCES, **settings) > 0
