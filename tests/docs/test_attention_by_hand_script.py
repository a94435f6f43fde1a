"""What a learner sees who runs docs/attention_by_hand.py."""

import re
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "attention_by_hand.py"


@pytest.fixture(scope="module")
def shown():
    """The numbers and texts behind each name, and the headings, as they were printed."""
    with pytest.MonkeyPatch.context() as patch:
        lines = []
        patch.setattr("builtins.print", lambda text="": lines.extend(str(text).split("\n")))
        runpy.run_path(str(SCRIPT), run_name="__main__")
    return lines


def behind(shown, name):
    """What stands behind a name, of which there is one."""
    [line] = [line for line in shown if line.startswith(f"  {name} ")]
    return line.removeprefix(f"  {name} ").strip()


def numbers(shown, name):
    return [float(number) for number in behind(shown, name).split()]


BY_HAND = {
    "scores [2.0, 1.0, 0.0] give weights": [0.665241, 0.244728, 0.090031],
    "values [1.0, 3.0, 5.0] give": [1.849579],
    "scores [2.0, 0.0] give weights": [0.880797, 0.119203],
    "values [10.0, 20.0] give": [11.192029],
    "before: weights": [0.665241, 0.244728, 0.090031, 0.0],
    "before: answer": [1.849579],
    "raw scores of chased": [0, 2, 0, 0, 2],
    "  chased": [0.1185, 0.3222, 0.1185, 0.1185, 0.3222, 1.0, 0.4833],
    "ids [7, 8, 0]: weights": [0.5, 0.5, 0.0],
    "ids [0, 0, 0]: weights": [0.0, 0.0, 0.0],
    "ids [0, 0, 0]: answer": [0.0],
    "ids [0, 0, 0]: gradient of the keys": [0.0, 0.0, 0.0],
    "without a mask: sums of the rows": [1.0] * 6,
    "with the causal mask: sums of the rows": [1.0] * 6,
}


@pytest.mark.parametrize(("name", "expected"), BY_HAND.items(), ids=BY_HAND)
def test_the_values_by_hand(shown, name, expected):
    assert numbers(shown, name) == pytest.approx(expected, abs=5e-5)


def test_a_masked_weight_is_exactly_zero_and_takes_nothing(shown):
    assert behind(shown, "before: weights").endswith("  0")
    assert numbers(shown, "before: their sum") == [1.0]
    [left] = numbers(shown, "after (wrong): their sum")
    assert left < 0.5


@pytest.mark.parametrize(
    "name",
    [
        "one by one - all at once, at most",
        "without: permuted, changes by",
        "without: words 1 and 4 are equal, differ by",
        "logits differ by",
        "all words: differ by",
    ],
)
def test_what_is_the_same_differs_by_rounding_alone(shown, name):
    found = [line.split()[-1] for line in shown if line.startswith(f"  {name} ")]
    assert len(found) == (2 if name == "logits differ by" else 1)
    assert all(float(number) <= 1e-5 for number in found)


def test_positions_give_words_an_order(shown):
    assert numbers(shown, "with: permuted, changes by")[0] > 1e-2
    assert numbers(shown, "with: words 1 and 4 are equal, differ by")[0] > 1e-2


def test_the_future_moves_earlier_answers_without_a_mask_only(shown):
    leaking = numbers(shown, "without a mask: answers move by")
    assert min(leaking) > 1e-3
    for name in ("with the causal mask: answers move by", "the whole Transformer: logits move by"):
        *earlier, last = numbers(shown, name)
        assert earlier == pytest.approx([0.0] * 5, abs=1e-6)
        assert last > 1e-3


def test_gradients_and_differences_are_both_shown(shown):
    analytic = numbers(shown, "backpropagation, first word")
    assert numbers(shown, "finite differences, first word") == pytest.approx(analytic, abs=2e-6)
    assert min(map(abs, analytic)) > 0


def test_the_decoder_reads_the_labels_moved_by_one(shown):
    assert behind(shown, "decoder's input") == "[2, 7, 8, 9]"
    assert behind(shown, "labels") == "[7, 8, 9, 3]"


def test_every_example_names_its_section(shown):
    headings = [line for line in shown if re.fullmatch(r"\d+\. .* \(section 3\.[\d.]+\)", line)]
    assert len(headings) == 11


def test_the_numbers_are_computed():
    text = SCRIPT.read_text(encoding="utf-8")
    assert not re.search(r"0\.66|1\.84|0\.88|11\.19|0\.32|0\.48", text)
