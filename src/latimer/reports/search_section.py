"""What the search missed, and greedy search beside it."""

from latimer.reports.contents import Report, SystemReport
from latimer.reports.greedy import GreedyComparison
from latimer.reports.markup import count, details, heading, paragraph, section, terms
from latimer.reports.search_errors import SearchErrors
from latimer.reports.sentences import show_sentence

SHOWN = 5
ABOUT_ERRORS = (
    "The model scored each reference as it scores its own translations (forced decoding: the "
    "log-probability of all pieces and the end, with the same length and coverage penalties). "
    "Where the reference has the higher score, the search has certainly missed something that the "
    "model prefers; where it has not, the search may have missed other texts all the same. So the "
    "figure is a lower bound."
)
NO_SEARCH = (
    "This system does not search for the highest score, so that there are no search errors: it "
    "draws samples."
)
ABOUT_GREEDY = (
    "Greedy search takes the likeliest piece at each step; what it finds was in reach of the other "
    "search, too. A lower score than greedy's is a search error. A lower log-probability need not "
    "be one, as a length penalty may prefer a longer text with less of it."
)
NO_GREEDY = "This system's search is greedy itself."


def make_searching(report: Report) -> str:
    """Search errors and greedy search, of each system."""
    errors = [_errors(report, system) for system in report.systems]
    greedy = [_greedy(system, len(report.systems) > 1) for system in report.systems]
    return section("search", "Search errors", paragraph(ABOUT_ERRORS), *errors) + section(
        "greedy", "Greedy search beside it", paragraph(ABOUT_GREEDY), *greedy
    )


def _errors(report: Report, system: SystemReport) -> str:
    name = heading(system.name) if len(report.systems) > 1 else ""
    found = system.search_errors
    if found is None:
        return name + paragraph(NO_SEARCH)
    return name + _error_table(found) + _worst_errors(report, system, found)


def _error_table(found: SearchErrors) -> str:
    share = f" ({len(found.errors) / found.lines:.1%})" if found.lines else ""
    rows = {
        "lines compared": f"{found.lines:,}",
        "reference scores higher: search errors": f"{len(found.errors):,}{share}",
    }
    if found.median_difference is not None:
        about = "median of the translation's score minus the reference's"
        rows[about] = f"{found.median_difference:+.3f}"
    return terms(
        {**rows, **{f"not compared: {what}": f"{n:,}" for what, n in found.left_out.items()}}
    )


def _worst_errors(report: Report, system: SystemReport, found: SearchErrors) -> str:
    sentences = [
        show_sentence(
            report,
            error.row,
            system,
            f"line {error.row + 1:,} · score of the translation {error.found:.3f}, "
            f"of the reference {error.reference:.3f}",
        )
        for error in found.errors[:SHOWN]
    ]
    if not sentences:
        return ""
    return details(f"The largest search errors ({len(sentences)})", *sentences)


def _greedy(system: SystemReport, several: bool) -> str:
    name = heading(system.name) if several else ""
    if system.greedy is None:
        return name + paragraph(NO_SEARCH if system.search_errors is None else NO_GREEDY)
    return name + _greedy_table(system.greedy)


def _greedy_table(greedy: GreedyComparison) -> str:
    before, after = greedy.bleu
    difference = f"{after - before:+.2f}"
    if greedy.interval is not None:
        difference += f" ({greedy.interval[0]:+.2f} to {greedy.interval[1]:+.2f})"
    rows = {
        "BLEU of greedy search": f"{before:.2f}",
        "BLEU of the search": f"{after:.2f}",
        "difference (95%)": difference,
        "translations that differ": f"{greedy.different:,} of {count(greedy.lines, 'line')}",
        "lower score than greedy search's: search errors": f"{greedy.lower_scores:,}",
        "lower log-probability than greedy search's": f"{greedy.lower_log_probabilities:,}",
    }
    return terms(rows)
