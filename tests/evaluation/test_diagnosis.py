"""``report.html``, from results to the file."""

import re

import pytest

from latimer.decoding import SamplingSettings, SearchSettings
from latimer.errors import LatimerError
from latimer.evaluation.diagnosis import diagnose, write_report
from latimer.evaluation.result import Result
from latimer.scoring import score
from latimer.translation import MinimumRiskSettings, Translator

BEAM = SearchSettings(beam_size=3, max_length_offset=4)


@pytest.fixture(scope="module")
def make_translator(make_model, tiny_tokenizers):
    def make(settings=BEAM, seed=1):
        return Translator(make_model(seed), tiny_tokenizers, settings, max_tokens=2000)

    return make


@pytest.fixture(scope="module")
def make_result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")

    def make(translator, sources, references, system="one", bootstrap=20, **about):
        translations = translator.translations(sources)
        texts = [translation.text for translation in translations]
        scored = {"target_language": "yy", "bootstrap": bootstrap}
        return Result(
            test_set="news",
            system=system,
            sources=sources,
            references=references,
            translations=translations,
            scores=score(texts, references, **scored),
            copy_bleu=2.5,
            seconds=1.0,
            folder=folder,
            origin={
                "checkpoint_sha256": f"hash of {system}",
                "scoring": {"bootstrap": bootstrap, "bleu_tokenizer": None, "lowercase": False},
            },
            about={
                "date": "2026-01-31T12:00:00+00:00",
                "checkpoint": f"/runs/{system}.ckpt",
                "ensemble": None,
                "updates": 100,
                "source_language": "xx",
                "target_language": "yy",
                "device": "cpu",
                "precision": "float32",
                **about,
            },
        )

    return make


def test_two_calls_give_the_same_bytes(make_translator, make_result, news_lines, tmp_path):
    translators = [make_translator(), make_translator(seed=2)]
    results = [
        make_result(translator, *news_lines, system=name, date="2026-01-31 12:00")
        for translator, name in zip(translators, ("one", "two"), strict=True)
    ]
    for name in ("a", "b"):
        write_report(tmp_path / f"{name}.html", results, translators, [])
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]
    html = (tmp_path / "a.html").read_text(encoding="utf-8")
    for text in ("/runs/one.ckpt", "hash of two", "100 updates", "beam 3", "2026-01-31 12:00"):
        assert text in html
    assert not re.search(r"https?:|<script|<link|url\(", html)


def test_what_is_found_agrees_with_the_result(make_translator, make_result, news_lines):
    translator = make_translator()
    result = make_result(translator, *news_lines)
    report = diagnose([result], [translator], [])
    [system] = report.systems
    assert system.metrics["BLEU"] == result.scores.bleu
    assert system.counts == result.counts()
    for groups in (report.lengths, report.rarity):
        assert sum(group.lines for group in groups) == 40
    assert system.search_errors.lines + sum(system.search_errors.left_out.values()) == 40
    assert system.search_errors.left_out["blank source"] == 1
    assert system.greedy.lines == 39
    assert system.greedy.bleu[1] == pytest.approx(result.scores.bleu.score)
    assert 1 <= len(system.alignments) <= 4


def test_a_translator_is_left_as_it_was(make_translator, make_result, news_lines):
    translator = make_translator()
    result = make_result(translator, *news_lines)
    before = (translator.settings, translator.model.training)
    diagnose([result], [translator], [])
    assert (translator.settings, translator.model.training) == before
    assert translator.translate(news_lines[0]) == result.texts


@pytest.mark.parametrize(
    ("sources", "references"),
    [
        ([""], [""]),
        (["", " "], ["the sea", ""]),
        (["the sea"], ["the boat"]),
        (["the sea", ""], ["", "the boat"]),
        (["the Ж"], ["Ж"]),
    ],
    ids=["blank", "all blank", "one line", "blank on one side", "unknown"],
)
@pytest.mark.parametrize("systems", [1, 2])
def test_any_test_set_has_a_page(
    make_translator, make_result, tmp_path, sources, references, systems
):
    translators = [make_translator(seed=seed) for seed in range(1, systems + 1)]
    results = [make_result(translator, sources, references) for translator in translators]
    write_report(tmp_path / "report.html", results, translators, [])
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert html.endswith("</html>\n")
    assert "nan" not in re.sub("<style>.*?</style>", "", html, flags=re.DOTALL).split()
    assert ("1: one" in html) == (systems == 2), "two of one name are told apart"


@pytest.mark.parametrize(
    "settings",
    [SamplingSettings(), MinimumRiskSettings(samples=2), SearchSettings(beam_size=1)],
    ids=["sampling", "minimum risk", "greedy"],
)
def test_any_way_of_decoding_has_a_page(make_translator, make_result, news_lines, settings):
    translator = make_translator(settings)
    report = diagnose([make_result(translator, *news_lines)], [translator], [])
    assert report.systems[0].greedy is None
    assert (report.systems[0].search_errors is None) == (settings.method != "beam")


def test_without_bootstrap_there_are_no_intervals(make_translator, make_result, news_lines):
    translator = make_translator()
    report = diagnose([make_result(translator, *news_lines, bootstrap=0)], [translator], [])
    assert report.systems[0].greedy.interval is None
    for group in (*report.lengths, *report.rarity):
        assert group.scores[0].bleu.confidence is None
    assert {recall.intervals for recall in report.recall} == {(None,)}


def test_a_page_that_cannot_be_written(make_translator, make_result, tmp_path):
    translator = make_translator()
    result = make_result(translator, ["the sea"], ["the boat"])
    path = tmp_path / "gone" / "report.html"
    with pytest.raises(LatimerError, match=r"gone.report\.html: could not be written"):
        write_report(path, [result], [translator], [])
