"""The page: whole, self-contained, and nothing on it but what is known."""

import re
from dataclasses import replace

import pytest

from latimer.decoding import Hypothesis
from latimer.reports import Report, SystemReport, make_page
from latimer.reports.alignment import view_alignments
from latimer.reports.groups import by_length, score_groups
from latimer.reports.rare_words import Recall
from latimer.reports.search_errors import SearchError, SearchErrors
from latimer.scoring import PartScorer, paired_scores, score
from latimer.translation import Translation

SCORER = PartScorer(target_language="yy", bootstrap=50)
EVIL = "<script>alert('1')</script> & \"boat\" <img src=http://x>"
HEBREW = "\u05d4\u05e1\u05e4\u05d9\u05e0\u05d4 \u05d0\u05d3\u05d5\u05de\u05d4"


def make_system(name, texts, references, **changes):
    scores = score(texts, references, target_language="yy", bootstrap=50)
    found = Hypothesis(ids=(5,), log_probability=-2.0, score=-1.5, finished=True)
    system = SystemReport(
        name=name,
        terms={"checkpoint": f"/runs/{name}", "search": "beam 4", "date": "2026-01-31"},
        metrics={"BLEU": scores.bleu, "chrF2++": scores.chrf, "TER": scores.ter},
        length_ratio=scores.length_ratio,
        copy_bleu=1.25,
        seconds=2.0,
        counts={"blank_sources": 7, "cut_sources": 0},
        notes=["a note"],
        doubts=["a doubt"],
        translations=[Translation(text, (found,)) for text in texts],
        sentence_scores=SCORER.sentences(texts, references),
        search_errors=SearchErrors(40, {"blank source": 3}, (SearchError(1, -1.5, -1.25),), 0.5),
        greedy=None,
        alignments=[],
    )
    return replace(system, **changes)


def make_report(sources, references, systems, compared=()):
    texts = [system.texts for system in systems]
    groups = score_groups(by_length(sources, "xx"), texts, references, SCORER)
    return Report(
        test_set="news",
        source_language="xx",
        target_language="yy",
        sources=sources,
        references=references,
        systems=systems,
        compared=compared,
        lengths=groups,
        rarity=groups,
        recall=[Recall("2", 44, (25.0,) * len(systems), ((20.0, 30.0),) * len(systems))],
    )


@pytest.fixture(scope="module")
def lines(make_sentences):
    return make_sentences(40, 1), make_sentences(40, 2), make_sentences(40, 3)


@pytest.fixture(scope="module")
def one(lines):
    sources, references, texts = lines
    return make_report(sources, references, [make_system("one", texts, references)])


@pytest.fixture(scope="module")
def two(lines):
    sources, references, texts = lines
    systems = [make_system("one", texts, references), make_system("two", references, references)]
    compared = paired_scores([texts, references], references, target_language="yy")
    return make_report(sources, references, systems, compared)


@pytest.mark.parametrize("which", ["one", "two"])
def test_the_page_is_whole_and_needs_nothing_else(request, read_page, which):
    html = make_page(request.getfixturevalue(which))
    page = read_page(html)
    assert page.open == []
    assert not re.search(r"https?:|//|@import|url\(|src=", html)
    for tag in ("script", "link", "iframe", "img"):
        assert not page.all(tag)
    assert page.all("meta") == [
        {"charset": "utf-8"},
        {"name": "viewport", "content": "width=device-width, initial-scale=1"},
    ]
    assert "prefers-color-scheme: dark" in html


@pytest.mark.parametrize("which", ["one", "two"])
def test_links_lead_to_sections(request, read_page, which):
    page = read_page(make_page(request.getfixturevalue(which)))
    links = [link["href"].removeprefix("#") for link in page.all("a")]
    assert links == [section["id"] for section in page.all("section")]
    assert ("differences" in links) == (which == "two")


def test_the_page_tells_what_is_known(one, read_page):
    text = " ".join(read_page(make_page(one)).text.split())
    system = one.systems[0]
    bleu = system.metrics["BLEU"]
    low, high = bleu.confidence
    for words in (
        "news, xx → yy",
        "lines 40",
        "/runs/one",
        "2026-01-31",
        f"BLEU {bleu.score:.2f} ({low:.1f} to {high:.1f})",
        f"TER {system.metrics['TER'].score:.2f}",
        f"length ratio {system.length_ratio:.3f}",
        "copy BLEU 1.25",
        "seconds 2.0",
        "sentences per second 20.0",
        bleu.signature,
        "blank sources 7",
        "Warning: a doubt",
        "Note: a note",
        "lines compared 40",
        "search errors 1 (2.5%)",
        "+0.500",
        "not compared: blank source 3",
        "score of the translation -1.500, of the reference -1.250",
        "25.00 (20.0 to 30.0)",
        "This system's search is greedy itself.",
    ):
        assert words in text


def test_every_group_shows_its_score(one, read_page):
    text = " ".join(read_page(make_page(one)).text.split())
    assert sum(group.lines for group in one.lengths) == 40
    for group in one.lengths:
        few = " (few)" if group.lines < 30 else ""
        assert f"{group.label} {group.lines}{few} {group.scores[0].bleu.score:.2f}" in text


def test_two_systems_are_set_side_by_side(two, read_page):
    page = read_page(make_page(two))
    text = " ".join(page.text.split())
    difference = two.compared[0][1].difference
    assert f"two BLEU {difference.score:+.2f} ({difference.confidence[0]:+.2f} to" in text
    assert "two is better: the 10 largest differences" in text
    assert "one is better" not in text, "the second one is perfect"
    assert len(page.all("mark")) > 20


def test_what_texts_hold_is_text_and_not_html(read_page):
    lines = [EVIL, HEBREW, f"{EVIL} {HEBREW}"]
    system = make_system(EVIL, lines[::-1], lines, terms={EVIL: EVIL}, counts={EVIL: 1})
    other = replace(make_system("b", lines, lines), notes=[EVIL], doubts=[EVIL])
    page = read_page(make_page(make_report(lines, lines, [system, other])))
    assert page.open == []
    assert not page.all("script") + page.all("img")
    assert page.text.count(EVIL) > 10
    sentences = [each for each in page.all("dd") if "lang" in each]
    assert {each["lang"] for each in sentences} == {"xx", "yy"}
    assert {each["dir"] for each in sentences} == {"auto"}


def test_samples_and_ensembles_are_explained(one, read_page):
    system = replace(one.systems[0], search_errors=None, alignments=None)
    text = read_page(make_page(replace(one, systems=[system]))).text
    assert text.count("so that there are no search errors: it draws samples") == 2
    assert "is an ensemble" in text
    assert "search is greedy itself" not in text


def test_an_alignment_is_a_table(one, make_translator, read_page):
    translator, sources = make_translator(), list(one.sources)
    found = translator.translations(sources)
    row = next(n for n, t in enumerate(found) if len(t.text.split()) > 1)
    drawn = view_alignments(translator, sources, found, {"best": row}, ("xx", "yy"))
    system = replace(one.systems[0], translations=found, alignments=drawn)
    page = read_page(make_page(replace(one, systems=[system])))
    assert page.open == []
    cells = [each for each in page.all("td") if each.get("class") == "most"]
    assert len(cells) == len(found[row].text.split())
    for weight in drawn[0].weights.max(axis=1):
        shade = f"{0.6 * weight:.2f}"
        assert any(shade in cell["style"] for cell in cells)


def test_a_thousand_lines_make_a_page_of_a_few_hundred_kilobytes(two):
    systems = [
        replace(
            system,
            translations=[*system.translations] * 25,
            sentence_scores=[*system.sentence_scores] * 25,
        )
        for system in two.systems
    ]
    sources, references = [*two.sources] * 25, [*two.references] * 25
    page = make_page(replace(two, sources=sources, references=references, systems=systems))
    assert 10_000 < len(page.encode("utf-8")) < 300_000
