"""What a dry run tells."""

from collections.abc import Sequence

import torch
from rich.table import Table

from latimer.config.run import RunConfig
from latimer.screen import Screen
from latimer.training.counts import Epoch
from latimer.training.forecast import Forecast, Pace, forecast
from latimer.training.measurement import Measurement
from latimer.training.memory_estimate import format_size
from latimer.training.progress import format_duration
from latimer.training.rate_curve import draw_rates, rate_rows
from latimer.training.ready import PreparedRun


def show_epoch(epoch: Epoch, config: RunConfig, screen: Screen) -> None:
    """What one pass over the training split has."""
    dropout = config.tokenizer.bpe_dropout
    more = "; more with tokenizer.bpe_dropout" if dropout else ""
    _show(
        screen,
        [
            ("an epoch", f"{epoch.pairs:,} pairs in {epoch.updates:,} updates"),
            ("its pieces", f"{epoch.source:,} source, {epoch.target:,} target, eos included{more}"),
            ("padding", f"{epoch.padding:.1%} of the cells of both sides"),
        ],
    )


def show_measured(measured: Measurement, epoch: Epoch, run: PreparedRun, screen: Screen) -> None:
    """Memory, the learning rate, the speed, and the time that the whole run would take."""
    rows, source, target = measured.largest
    size = f"{rows:,} pairs of up to {source:,} source and {target:,} target pieces"
    _show(screen, [("largest batch", f"{size}; it was tried first, and fits")])
    screen.table("memory, estimated", ("memory", "size"), _memory_rows(measured))
    peak, kind = measured.peak
    if peak:
        _show(screen, [("highest so far", f"{format_size(peak)} {kind}{_of_all(run)}")])
    pace = find_pace(measured, epoch, run)
    whole = forecast(run.config.trainer, epoch.updates, pace)
    _show_rates(run.config, whole.updates, screen)
    _show(screen, [*_speed_rows(measured, run), *_whole_rows(whole, pace, epoch, run)])


def find_pace(measured: Measurement, epoch: Epoch, run: PreparedRun) -> Pace:
    """The pace of the whole run, from the speed in pieces, since updates are of unequal size."""
    timed, validation = measured.timed, run.config.validation
    pieces = epoch.target / epoch.updates / run.config.trainer.devices
    wanted = min(validation.bleu_sentences, len(run.corpus.validation))
    translated = min(run.task.config.validation.bleu_sentences, len(run.corpus.validation))
    return Pace(
        update=pieces * timed.seconds / timed.pieces,
        validation=measured.likelihood_seconds + measured.translation_seconds * wanted / translated,
        every_updates=validation.every_updates,
    )


def _memory_rows(measured: Measurement) -> list[tuple[str, str]]:
    memory = measured.memory
    return [
        ("weights", format_size(memory.weights)),
        ("gradients", format_size(memory.gradients)),
        ("optimizer state", format_size(memory.optimizer)),
        ("activations of the largest batch", format_size(memory.activations)),
        ("together", format_size(memory.total)),
    ]


def _of_all(run: PreparedRun) -> str:
    if run.hardware.accelerator != "gpu":
        return ""
    return f", of its {format_size(torch.cuda.get_device_properties(0).total_memory)}"


def _show_rates(config: RunConfig, last: int, screen: Screen) -> None:
    d_model = config.model.d_model
    screen.print(f"\nlearning rate, schedule={config.schedule.kind}")
    screen.print(draw_rates(config.schedule, last, d_model))
    screen.table("", ("update", "rate"), rate_rows(config.schedule, last, d_model))


def _speed_rows(measured: Measurement, run: PreparedRun) -> list[tuple[str, str]]:
    timed, devices = measured.timed, run.config.trainer.devices
    speed = f"{timed.pieces / timed.seconds:,.0f} target pieces/s"
    over = f"{timed.updates} updates" if timed.updates > 1 else "one update"
    several = (
        f" of one process; {devices} are taken for {devices} times as fast" if devices > 1 else ""
    )
    return [("speed", f"{speed}{several}, measured over {over}")]


def _whole_rows(
    whole: Forecast, pace: Pace, epoch: Epoch, run: PreparedRun
) -> list[tuple[str, str]]:
    validations = pace.validations(whole.updates)
    seconds = min(validations * pace.validation, whole.seconds)
    earlier = run.config.validation.patience is not None
    return [
        (
            "a validation",
            f"{format_duration(pace.validation)}, "
            f"{seconds / whole.seconds:.0%} of the run; less once the model has learnt to end "
            "its sentences",
        ),
        ("whole run", f"{whole.updates:,} updates, {whole.updates / epoch.updates:.1f} epochs"),
        ("its end", whole.limit + (", or earlier by validation.patience" if earlier else "")),
        (
            "its time",
            f"about {format_duration(whole.seconds)}, and the evaluation of its test sets",
        ),
    ]


def _show(screen: Screen, rows: Sequence[tuple[str, str]]) -> None:
    """Names and what belongs to them; long ones are wrapped in their own column."""
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=13)
    table.add_column()
    for row in rows:
        table.add_row(*row)
    screen.print(table)
