"""Paired tests: the sacrebleu command on the same files, and differences known beforehand."""

import json
import random
import subprocess
import sys

import pytest

from latimer.errors import LatimerError
from latimer.scoring import paired_scores, score

WORDS = ("the", "a", "red", "old", "small", "boat", "door", "kettle", "is", "on", "near", "sea")


def sentences(count, seed):
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS, k=dice.randint(6, 14))) + "." for _ in range(count)]


def worsen(lines, share, seed):
    """The lines with a share of their words replaced."""
    dice = random.Random(seed)
    return [
        " ".join(dice.choice(WORDS) if dice.random() < share else word for word in line.split())
        for line in lines
    ]


REFERENCES = sentences(120, 1)
GOOD = worsen(REFERENCES, 0.2, 2)
AS_GOOD = worsen(REFERENCES, 0.2, 3)
BAD = worsen(REFERENCES, 0.4, 4)


@pytest.fixture(scope="module")
def compared():
    """BLEU and chrF2++ of four systems against the first."""
    return paired_scores([GOOD, AS_GOOD, BAD, GOOD], REFERENCES, target_language="en")


def printed_by_sacrebleu(folder, *arguments):
    for name, lines in {"ref": REFERENCES, "1": GOOD, "2": AS_GOOD, "3": BAD}.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = ["sacrebleu", "ref", "-i", "1", "2", "3", "-f", "json", *arguments]
    result = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(result.stdout)


def test_the_bootstrap_is_that_of_the_sacrebleu_command(compared, tmp_path):
    printed = printed_by_sacrebleu(tmp_path, "-m", "bleu", "--paired-bs")
    for ours, theirs in zip(compared[0][:3], (row["BLEU"] for row in printed), strict=True):
        low, high = ours.metric.confidence
        assert ours.metric.score == theirs["score"]
        assert (low + high) / 2 == pytest.approx(theirs["mean"], abs=1e-9)
        assert (high - low) / 2 == pytest.approx(theirs["ci"], abs=1e-9)
        if ours.difference is not None:
            assert ours.difference.p_bootstrap == theirs["p_value"]


def test_the_randomisation_is_that_of_the_sacrebleu_command(compared, tmp_path):
    metrics = ["-m", "bleu", "chrf", "--chrf-word-order", "2"]
    printed = printed_by_sacrebleu(tmp_path, *metrics, "--paired-ar")
    for systems, name in zip(compared, ("BLEU", "chrF2++"), strict=True):
        for ours, theirs in zip(systems[:3], (row[name] for row in printed), strict=True):
            assert ours.metric.score == theirs["score"]
            if ours.difference is not None:
                assert ours.difference.p_randomisation == theirs["p_value"]


def test_a_system_does_not_differ_from_itself(compared):
    """Sacrebleu itself prints p = 0.001: none of its differences of 0 is larger than 0."""
    for metric in compared:
        assert metric[0].difference is None
        same = metric[3].difference
        assert (same.score, same.confidence) == (0.0, (0.0, 0.0))
        assert same.p_bootstrap == same.p_randomisation == 1.0


@pytest.mark.parametrize(("changed", "least"), [(1, 1.0), (2, 0.5), (3, 0.25)])
def test_few_lines_prove_nothing(changed, least):
    """Of two lines half of all exchanges make the same difference; sacrebleu says p = 0.0001."""
    other = [*BAD[:changed], *GOOD[changed:]]
    for metric in paired_scores([GOOD, other], REFERENCES, target_language="en", bootstrap=20):
        difference = metric[1].difference
        assert difference.lines == changed
        assert difference.p_randomisation >= least


def test_the_resamplings_are_as_many_as_are_wanted():
    bleu, _ = paired_scores([GOOD, BAD], REFERENCES, target_language="en", bootstrap=20)
    assert "|bs:20|" in bleu[0].metric.signature
    alone = score(BAD, REFERENCES, target_language="en", bootstrap=20)
    assert bleu[1].metric.confidence == pytest.approx(alone.bleu.confidence, abs=1e-4)
    assert bleu[1].difference.p_bootstrap >= 1 / 21


def test_a_clearly_worse_system_is_significantly_worse(compared):
    for metric in compared:
        difference = metric[2].difference
        assert difference.p_bootstrap < 0.05
        assert difference.p_randomisation < 0.05
        assert difference.confidence[0] < difference.score < difference.confidence[1] < 0


def test_chance_is_not_significant(compared):
    for metric in compared:
        difference = metric[1].difference
        assert difference.p_bootstrap > 0.05
        assert difference.p_randomisation > 0.05
        assert difference.confidence[0] < 0 < difference.confidence[1]


def test_the_scores_are_those_of_an_evaluation(compared):
    for number, hypotheses in enumerate([GOOD, AS_GOOD, BAD]):
        alone = score(hypotheses, REFERENCES, target_language="en")
        for system, metric in zip(compared, (alone.bleu, alone.chrf), strict=True):
            assert system[number].metric.score == pytest.approx(metric.score, abs=1e-9)
            assert system[number].metric.signature == metric.signature
            assert system[number].metric.confidence == pytest.approx(metric.confidence, abs=1e-4)


def test_the_order_turns_the_sign(compared):
    turned = paired_scores([BAD, GOOD], REFERENCES, target_language="en")
    for forwards, backwards in zip(compared, turned, strict=True):
        there, back = forwards[2].difference, backwards[1].difference
        assert back.score == pytest.approx(-there.score)
        assert back.confidence == pytest.approx((-there.confidence[1], -there.confidence[0]))
        assert back.p_bootstrap == there.p_bootstrap


def test_what_a_metric_cannot_see_is_no_difference():
    shouting = [line.upper() for line in GOOD]
    bleu, _ = paired_scores([GOOD, shouting], REFERENCES, target_language="en", lowercase=True)
    assert "case:lc" in bleu[1].metric.signature
    assert bleu[1].difference.p_bootstrap == 1.0


@pytest.mark.parametrize("lines", [0, 119])
def test_unequal_numbers_of_lines_are_refused(lines):
    with pytest.raises(LatimerError, match=f"{lines} hypotheses .* 120 references"):
        paired_scores([GOOD, AS_GOOD[:lines]], REFERENCES, target_language="en")
