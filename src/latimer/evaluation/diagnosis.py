"""The page of a result: what the results of a test set tell beyond their scores."""

import os
from collections.abc import Sequence
from pathlib import Path

from latimer.checkpoint import describe_updates
from latimer.errors import LatimerError
from latimer.evaluation.doubts import doubts
from latimer.evaluation.labels import bleu_name
from latimer.evaluation.result import Result
from latimer.reports import Report, SystemReport, make_page
from latimer.reports.alignment import choose_rows, view_alignments
from latimer.reports.greedy import compare_with_greedy
from latimer.reports.groups import by_length, by_rarity, score_groups
from latimer.reports.rare_words import find_recall
from latimer.reports.search_errors import find_search_errors
from latimer.scoring import Metric, PairedScore, PartScorer
from latimer.translation import Translator


def write_report(
    path: Path,
    results: Sequence[Result],
    translators: Sequence[Translator],
    compared: Sequence[Sequence[PairedScore]],
) -> None:
    """Writes a page about the results of one test set; the same ones give the same bytes.

    The models translate the test set once more, greedily, and score its references.

    Args:
        path: of the page.
        results: one for each system, first the one that the others are compared with.
        translators: those that made them.
        compared: what :func:`~latimer.scoring.paired_scores` says of them; empty without tests.

    Raises:
        LatimerError: the disk is full or cannot be written to.
    """
    page = make_page(diagnose(results, translators, compared))
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        aside.write_text(page, encoding="utf-8", newline="\n")
        aside.replace(path)
    except OSError as error:
        raise LatimerError(
            f"{path}: could not be written ({error.strerror}); the results beside it are whole"
        ) from error
    finally:
        aside.unlink(missing_ok=True)


def diagnose(
    results: Sequence[Result],
    translators: Sequence[Translator],
    compared: Sequence[Sequence[PairedScore]],
) -> Report:
    """All that the page tells; arguments as in :func:`write_report`."""
    first, tokenizers = results[0], translators[0].tokenizers
    source_language = first.about["source_language"]
    scorer = _scorer(first)
    systems = [result.texts for result in results]
    groups = [
        score_groups(rows, systems, first.references, scorer)
        for rows in (
            by_length(first.sources, source_language),
            by_rarity(first.sources, source_language, tokenizers.source),
        )
    ]
    return Report(
        test_set=first.test_set,
        source_language=source_language,
        target_language=first.about["target_language"],
        sources=first.sources,
        references=first.references,
        systems=[
            _system(name, result, translator, scorer)
            for name, result, translator in zip(_names(results), results, translators, strict=True)
        ],
        compared=compared,
        lengths=groups[0],
        rarity=groups[1],
        recall=find_recall(systems, first.references, tokenizers.target, scorer),
    )


def _system(name: str, result: Result, translator: Translator, scorer: PartScorer) -> SystemReport:
    pairs, found = (result.sources, result.references), result.translations
    languages = (result.about["source_language"], result.about["target_language"])
    scores = scorer.sentences(result.texts, result.references)
    rows = choose_rows(result.sources, result.texts, scores, languages)
    return SystemReport(
        name=name,
        terms=_terms(result, translator),
        metrics=_metrics(result),
        length_ratio=result.scores.length_ratio,
        copy_bleu=result.copy_bleu,
        seconds=result.seconds,
        counts=result.counts(),
        notes=result.notes,
        doubts=doubts(result),
        translations=found,
        sentence_scores=scores,
        search_errors=find_search_errors(translator, *pairs, found),
        greedy=compare_with_greedy(translator, *pairs, found, scorer),
        alignments=view_alignments(translator, result.sources, found, rows, languages),
    )


def _scorer(result: Result) -> PartScorer:
    scoring = result.origin["scoring"]
    return PartScorer(
        target_language=result.about["target_language"],
        bleu_tokenizer=scoring["bleu_tokenizer"],
        lowercase=scoring["lowercase"],
        bootstrap=scoring["bootstrap"],
    )


def _names(results: Sequence[Result]) -> list[str]:
    """The systems' names; with their numbers, should two have the same one."""
    names = [result.system or "system" for result in results]
    if len(set(names)) == len(names):
        return names
    return [f"{number}: {name}" for number, name in enumerate(names, start=1)]


def _terms(result: Result, translator: Translator) -> dict[str, str]:
    about = result.about
    members = about["ensemble"] or []
    return {
        "checkpoint": ", ".join([about["checkpoint"], *members]),
        "SHA-256": result.origin["checkpoint_sha256"],
        "training": describe_updates(about["updates"], about.get("averaged", ())),
        "search": translator.settings.described,
        "device": f"{about['device']}, {about['precision']}",
        "date": about["date"],
    }


def _metrics(result: Result) -> dict[str, Metric]:
    scores = result.scores
    metrics = {bleu_name(scores.bleu): scores.bleu, "chrF2++": scores.chrf, "TER": scores.ter}
    return {**metrics, **({"COMET x 100": result.comet} if result.comet else {})}
