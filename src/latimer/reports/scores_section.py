"""The head of a report: what was evaluated, and its scores."""

from collections.abc import Sequence
from html import escape

from latimer.reports.contents import Report, SystemReport
from latimer.reports.markup import (
    details,
    heading,
    metric_text,
    name_cell,
    paragraph,
    section,
    table,
    terms,
)
from latimer.scoring import ABOUT_P, Difference

ABOUT_INTERVALS = (
    "In parentheses: 95% intervals, by bootstrap over the lines. They speak of other sentences of "
    "this kind, not of other seeds of the training. TER: less is better. Length ratio: words of "
    "the translations per word of the references. Copy BLEU: what the sources themselves would "
    "score."
)


def make_head(report: Report) -> str:
    """Title, test set and systems."""
    languages = f"{report.source_language} → {report.target_language}"
    title = f"<h1>{escape(report.test_set)}, {escape(languages)}</h1>\n"
    about = {"test set": report.test_set, "languages": languages}
    about["lines"] = f"{len(report.references):,}"
    if len(report.systems) == 1:
        return title + terms({**about, **report.systems[0].terms})
    each = (heading(system.name) + terms(system.terms) for system in report.systems)
    return title + terms(about) + "".join(each)


def make_scores(report: Report) -> str:
    """The table of scores, their tests, signatures, counts and doubts."""
    return section(
        "scores",
        "Scores",
        "".join(_warnings(system, len(report.systems) > 1) for system in report.systems),
        _score_table(report.systems),
        paragraph(ABOUT_INTERVALS, "quiet"),
        _tests(report) if report.compared else "",
        heading("Lines to know about"),
        _counts(report.systems),
        details("Signatures", _signatures(report.systems)),
    )


def _difference(difference: Difference) -> list[str]:
    low, high = difference.confidence
    return [
        f"{difference.score:+.2f} ({low:+.2f} to {high:+.2f})",
        f"{difference.lines:,}",
        f"{difference.p_bootstrap:.4f}",
        f"{difference.p_randomisation:.4f}",
    ]


def _warnings(system: SystemReport, several: bool) -> str:
    before = f"{system.name}: " if several else ""
    doubts = [paragraph(f"{before}Warning: {doubt}", "doubt") for doubt in system.doubts]
    notes = [paragraph(f"{before}Note: {note}", "doubt") for note in system.notes]
    return "".join([*doubts, *notes])


def _score_table(systems: Sequence[SystemReport]) -> str:
    columns = [_figures(system) for system in systems]
    rows = [[escape(name), *(column[name] for column in columns)] for name in columns[0]]
    return table(["", *(name_cell(system.name) for system in systems)], rows)


def _figures(system: SystemReport) -> dict[str, str]:
    speed = len(system.translations) / max(system.seconds, 1e-9)
    return {
        **{name: metric_text(metric) for name, metric in system.metrics.items()},
        "length ratio": f"{system.length_ratio:.3f}",
        "copy BLEU": f"{system.copy_bleu:.2f}",
        "seconds": f"{system.seconds:.1f}",
        "sentences per second": f"{speed:.1f}",
    }


def _tests(report: Report) -> str:
    names = [system.name for system in report.systems]
    rows = [
        [name_cell(name), escape(paired.metric.name), *_difference(paired.difference)]
        for metric in report.compared
        for name, paired in zip(names[1:], metric[1:], strict=True)
        if paired.difference is not None
    ]
    columns = ["system", "score", "difference (95%)", "lines that differ"]
    columns += ["p, bootstrap", "p, randomisation"]
    return (
        heading(f"Differences from {names[0]}") + table(columns, rows) + paragraph(ABOUT_P, "quiet")
    )


def _counts(systems: Sequence[SystemReport]) -> str:
    kinds = dict.fromkeys(kind for system in systems for kind in system.counts)
    rows = [
        [escape(kind.replace("_", " ")), *(f"{system.counts.get(kind, 0):,}" for system in systems)]
        for kind in kinds
    ]
    names = [name_cell(system.name) for system in systems] if len(systems) > 1 else ["lines"]
    return table(["what", *names], rows)


def _signatures(systems: Sequence[SystemReport]) -> str:
    """Once for all systems that were scored in the same way."""
    signatures = {
        (name, metric.signature): system.name
        for system in reversed(systems)
        for name, metric in system.metrics.items()
    }
    alone = len(signatures) == len(systems[0].metrics)
    return terms(
        {
            name if alone else f"{name}, {system}": signature
            for (name, signature), system in signatures.items()
        }
    )
