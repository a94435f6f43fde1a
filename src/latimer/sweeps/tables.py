"""A sweep as a table: on the screen, and as ``sweep.md`` in its folder."""

from collections.abc import Iterator
from datetime import timedelta

from latimer.screen import Screen
from latimer.sweeps.record import ERROR, Job, SweepRecord

SHOWN_CHARACTERS = 200
MISSING = ("waiting", "running", "stopped")


def show_sweep(record: SweepRecord, screen: Screen) -> None:
    """The table, what failed, what is missing, and the best job."""
    screen.table("sweep", *sweep_table(record))
    for remark in _remarks(record):
        screen.print(remark)


def sweep_page(record: SweepRecord) -> str:
    """The same as Markdown."""
    columns, rows = sweep_table(record)
    cells = [columns, ["---"] * len(columns), *rows]
    table = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
    shared = " ".join(setting for setting in _shared(record.jobs))
    every = [f"\nAll jobs: `{shared}`"] if shared else []
    remarks = "".join(f"\n- {remark}" for remark in _remarks(record))
    return "\n".join([f"# {record.folder.name}", "", *table, *every, remarks]) + "\n"


def sweep_table(record: SweepRecord) -> tuple[list[str], list[list[str]]]:
    """Columns, and a row for each job: the settings that not all have, and what came of them."""
    test_sets = sorted({name for job in record.jobs for name in job.bleu})
    monitor = [record.monitor] if record.monitor else []
    columns = ["job", "status", *monitor, *(f"BLEU {name}" for name in test_sets), "time"]
    rows = []
    for job in record.jobs:
        scores = [_show(job.score, tag) for tag in monitor]
        scores += [_show(job.bleu.get(name), "BLEU") for name in test_sets]
        time = str(timedelta(seconds=round(job.seconds)))
        rows.append([name_job(job, record), job.status, *scores, time])
    return columns, rows


def name_job(job: Job, record: SweepRecord) -> str:
    """Its number, and the settings that other jobs of the sweep haven't."""
    shared = _shared(record.jobs)
    own = [_shortened(setting) for setting in job.settings if setting not in shared]
    return " ".join([f"{job.number:02}", *own])


def _shared(jobs: list[Job]) -> list[str]:
    """What all jobs have in common; nothing, if there is one alone."""
    others = [set(job.settings) for job in jobs[1:]]
    if not others:
        return []
    return [setting for setting in jobs[0].settings if all(setting in job for job in others)]


def _shortened(setting: str) -> str:
    """Long decimals, as a search gives them, cut to three digits."""
    key, equals, value = setting.partition("=")
    try:
        return f"{key}{equals}{min(value, f'{float(value):.3g}', key=len)}"
    except ValueError:
        return setting


def _show(value: float | None, of: str) -> str:
    """A score with the digits that it has elsewhere; nothing if there is none."""
    if value is None:
        return ""
    return f"{value:.4f}" if of == "val/nll" else f"{value:.2f}"


def _remarks(record: SweepRecord) -> Iterator[str]:
    for job in record.jobs:
        if job.error is not None:
            place = record.place(job) / ERROR
            more = f" ({place})" if place.exists() else ""
            yield f"job {job.number:02} failed: {_essence(job.error)}{more}"
    missing = [f"{job.number:02}" for job in record.jobs if job.status in MISSING]
    if missing:
        yield f"not finished: {', '.join(missing)}"
    if best := record.best():
        yield f"best {record.monitor}: job {best.number:02}, {record.place(best)}"


def _essence(error: str) -> str:
    """The last line of a traceback, or the first one of a message."""
    lines = error.strip().splitlines() or [""]
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    line = line.removeprefix("error: ")
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}…"
