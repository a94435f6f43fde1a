"""On a page about several systems, each figure stands beside the system that it belongs to."""

import re
from dataclasses import replace

import pytest

from latimer.reports import Report, SystemReport, make_page
from latimer.reports.greedy import GreedyComparison
from latimer.reports.groups import Group
from latimer.reports.rare_words import Recall
from latimer.reports.search_errors import SearchErrors
from latimer.scoring import Difference, GroupScore, Metric, PairedScore
from latimer.translation import Translation

LINES = ["the red boat sails home"] * 4


def metric(score, name="BLEU"):
    return Metric(name, score, f"signature of {name}", (score - 1, score + 1))


def group(score):
    return GroupScore(metric(score), chrf=score + 2, length_ratio=score / 50, matching_four_grams=9)


def make_system(number):
    """All figures of a system tell which one it is by their first digit."""
    return SystemReport(
        name=f"system {number}",
        terms={"checkpoint": f"/{number}.ckpt"},
        metrics={"BLEU": metric(10.0 * number), "TER": metric(10.0 * number + 5, "TER")},
        length_ratio=number / 10,
        copy_bleu=10.0 * number + 2,
        seconds=number,
        counts={"blank_sources": 10 * number, "copies_of_the_source": 10 * number + 1},
        notes=[],
        doubts=[f"doubt {number}"],
        translations=[Translation(line) for line in LINES],
        sentence_scores=[10.0 * number] * 4,
        search_errors=SearchErrors(100 * number, {"blank source": number}, (), 0.25 * number),
        greedy=GreedyComparison(
            bleu=(10.0 * number + 3, 10.0 * number + 4.5),
            interval=(0.25 * number, 2.25 * number),
            lines=100 * number,
            different=20 * number,
            lower_scores=10 * number + 6,
            lower_log_probabilities=10 * number + 7,
        ),
        alignments=[],
    )


def make_difference(number):
    sign = number - 1.25
    return Difference(sign, (sign - 0.5, sign + 0.5), 7, number / 100, number / 1000)


@pytest.fixture(scope="module")
def report():
    systems = [make_system(number) for number in (1, 2, 3)]
    others = [PairedScore(metric(10.0 * n), make_difference(n)) for n in (2, 3)]
    return Report(
        test_set="news",
        source_language="xx",
        target_language="yy",
        sources=LINES,
        references=LINES,
        systems=systems,
        compared=[[PairedScore(metric(10.0), None), *others]],
        lengths=[Group("1–5", 40, tuple(group(10.0 * n) for n in (1, 2, 3)))],
        rarity=[Group("1.50", 40, tuple(group(10.0 * n + 5) for n in (1, 2, 3)))],
        recall=[Recall("2", 44, (15.0, 25.0, 35.0), ((14.0, 16.0), (24.0, 26.0), (34.0, 36.0)))],
    )


@pytest.fixture(scope="module")
def part(report, read_page):
    """The text of a section by its name, with single spaces."""

    def read(name, about=report):
        [found] = re.findall(
            rf'<section id="{name}">.*?</section>', make_page(about), flags=re.DOTALL
        )
        return " ".join(read_page(found).text.split())

    return read


def test_groups_of_lines(part):
    rows = "system {0} {1:.2f} ({2:.1f} to {3:.1f}) {4:.2f} {5:.3f}"

    def row(number, score):
        return rows.format(number, score, score - 1, score + 1, score + 2, score / 50)

    lengths, rarity = part("lengths"), part("rarity")
    assert " ".join(["1–5 40", *(row(n, 10.0 * n) for n in (1, 2, 3))]) in lengths
    assert " ".join(["1.50 40", *(row(n, 10.0 * n + 5) for n in (1, 2, 3))]) in rarity


def test_words_that_are_found(part):
    assert (
        "2 44 system 1 15.00 (14.0 to 16.0) system 2 25.00 (24.0 to 26.0) "
        "system 3 35.00 (34.0 to 36.0)"
    ) in part("rarity")


def test_scores_counts_and_tests(part):
    scores = part("scores")
    for words in (
        "system 1 system 2 system 3 BLEU 10.00 (9.0 to 11.0) 20.00 (19.0 to 21.0) 30.00 (",
        "TER 15.00 (14.0 to 16.0) 25.00 (24.0 to 26.0) 35.00 (",
        "length ratio 0.100 0.200 0.300 copy BLEU 12.00 22.00 32.00 seconds 1.0 2.0 3.0",
        "sentences per second 4.0 2.0 1.3",
        "blank sources 10 20 30 copies of the source 11 21 31",
        "Differences from system 1",
        "system 2 BLEU +0.75 (+0.25 to +1.25) 7 0.0200 0.0020",
        "system 3 BLEU +1.75 (+1.25 to +2.25) 7 0.0300 0.0030",
        "system 2: Warning: doubt 2",
    ):
        assert words in scores


def test_search_errors(part):
    assert [*re.findall(r"system (\d) lines compared (\d)00 ", part("search"))] == [
        (number, number) for number in "123"
    ]
    for number in (1, 2, 3):
        assert f"{0.25 * number:+.3f} not compared: blank source {number}" in part("search")


def test_greedy_search(part):
    shown = part("greedy")
    for number in (1, 2, 3):
        assert (
            f"system {number} BLEU of greedy search {number}3.00 BLEU of the search {number}4.50 "
            f"difference (95%) +1.50 ({0.25 * number:+.2f} to {2.25 * number:+.2f}) "
            f"translations that differ {20 * number} of {number}00 lines "
            f"lower score than greedy search's: search errors {number}6 "
            f"lower log-probability than greedy search's {number}7"
        ) in shown


def test_a_single_system_needs_no_name(report, part):
    [first, *_] = report.systems
    compared = replace(first.greedy, interval=None, lines=1)
    alone = replace(report, systems=[replace(first, greedy=compared)], compared=[])
    alone = replace(alone, recall=[], lengths=[], rarity=[])
    shown = part("greedy", alone)
    assert "system 1" not in shown
    assert "difference (95%) +1.50 translations that differ 20 of 1 line lower" in shown
