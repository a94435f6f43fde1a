"""Groups of lines: every line is in one, and each is scored as a corpus of its own."""

import pytest
from sacrebleu.metrics.bleu import BLEU

from latimer.reports.groups import BLANK, FEW, by_length, by_rarity, score_groups
from latimer.reports.units import unit_spans, units
from latimer.scoring import PartScorer


def all_rows(groups):
    return sorted(row for rows in groups.values() for row in rows)


def words(count):
    return " ".join(["w"] * count)


def test_lengths_are_words_of_the_source():
    sources = [words(n) for n in (51, 5, 1, 6, 0, 10, 200, 50, 11)]
    assert by_length([*sources, " \t"], "en") == {
        "blank": [4, 9],
        "1–5": [1, 2],
        "6–10": [3, 5],
        "11–15": [8],
        "31–50": [7],
        "51+": [0, 6],
    }


def test_without_spaces_lengths_are_characters():
    assert by_length(["我有一只猫", "我 有\u3000猫" * 4, ""], "zh") == {
        "blank": [2],
        "1–10": [0],
        "11–20": [1],
    }
    assert units("我 有猫", "zh") == ["我", "有", "猫"]
    assert unit_spans(" a  bc", "en") == [(1, 2), (4, 6)]


def test_rarity_is_pieces_per_word(tiny_tokenizer):
    common, rare = "the red boat", "zqx qzx xqz"
    assert len(tiny_tokenizer.encode(rare)) > len(tiny_tokenizer.encode(common))
    groups = by_rarity([rare, common, "", common, common, common], "en", tiny_tokenizer)
    assert all_rows(groups) == [*range(6)]
    assert groups[BLANK] == [2]
    *_, last = groups.values()
    assert last == [0]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 40])
def test_every_line_is_in_one_group(make_sentences, tiny_tokenizer, count):
    sources = [*make_sentences(count, 3)[1:], "  "]
    for groups in (by_length(sources, "en"), by_rarity(sources, "en", tiny_tokenizer)):
        assert all_rows(groups) == [*range(count)]
        assert all(groups.values())


def test_of_lines_that_are_all_blank_there_is_one_group(tiny_tokenizer):
    for groups in (by_length(["", " "], "en"), by_rarity(["", " "], "en", tiny_tokenizer)):
        assert {label: list(rows) for label, rows in groups.items()} == {BLANK: [0, 1]}


def test_a_group_has_sacrebleu_s_score_of_its_lines(make_sentences):
    sources = make_sentences(120, 4)
    systems = [make_sentences(120, seed) for seed in (4, 5)]
    references = [*make_sentences(120, 4)[:60], *make_sentences(120, 5)[60:]]
    scorer = PartScorer(target_language="en", bootstrap=100)
    rows = by_length(sources, "en")
    groups = score_groups(rows, systems, references, scorer)
    assert sum(group.lines for group in groups) == 120
    assert [group.label for group in groups] == [*rows]
    for group in groups:
        chosen = rows[group.label]
        assert group.lines == len(chosen)
        for texts, found in zip(systems, group.scores, strict=True):
            hypotheses = [texts[row] for row in chosen]
            theirs = BLEU().corpus_score(hypotheses, [[references[row] for row in chosen]])
            assert found.bleu.score == pytest.approx(theirs.score, abs=1e-9)
            assert (found.bleu.confidence is None) == (len(chosen) < FEW)
    assert any(group.lines < FEW for group in groups)
    assert any(group.lines >= FEW for group in groups)
