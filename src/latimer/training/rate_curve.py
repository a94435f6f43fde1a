"""The learning rate over a run, drawn with characters: for a terminal and for a log."""

import plotille

from latimer.config.schedule import ScheduleConfig
from latimer.training.schedule import learning_rate

WIDTH, HEIGHT = 50, 11
"""Characters of the plot; 72 columns with its axis. The last row is above the peak."""
POINTS = 2 * WIDTH  # a character is two dots wide


def rate_rows(schedule: ScheduleConfig, last: int, d_model: int) -> list[tuple[str, str]]:
    """The rate at the first update, at the end of the warm-up, on the way, and at the last."""
    named = {1: " (the first)", schedule.warmup_updates: " (end of the warm-up)"}
    named[last] = " (the last)"
    on_the_way = [round(last * share) for share in (0.25, 0.5, 0.75)]
    chosen = sorted(n for n in {*named, *on_the_way} if 1 <= n <= last)
    return [
        (f"{n:,}{named.get(n, '')}", f"{learning_rate(schedule, n, d_model):.3g}") for n in chosen
    ]


def draw_rates(schedule: ScheduleConfig, last: int, d_model: int) -> str:
    """The curve from the first update to the last, with a vertical line where the warm-up ends."""
    updates = sorted(
        {*(1 + (last - 1) * n // POINTS for n in range(POINTS + 1)), _top(schedule, last)}
    )
    rates = [learning_rate(schedule, update, d_model) for update in updates]
    figure = plotille.Figure()
    figure.width, figure.height, figure.with_colors, figure.origin = WIDTH, HEIGHT, False, False
    figure.set_x_limits(0, last)
    figure.set_y_limits(0, max(rates) * HEIGHT / (HEIGHT - 1))
    figure.x_label, figure.y_label = "update", "rate"
    figure.x_ticks_fkt = lambda update, _: f"{update:,.0f}" if last < 10**8 else f"{update:.1e}"
    figure.y_ticks_fkt = lambda rate, _: f"{rate:.2e}"
    figure.plot(updates, rates)
    if 0 < schedule.warmup_updates < last:
        figure.axvline(schedule.warmup_updates / last)
    return "\n".join(line.rstrip(" \u2800") for line in figure.show().split("\n"))


def _top(schedule: ScheduleConfig, last: int) -> int:
    """The end of the warm-up, where the peak is, if the run gets there."""
    return min(max(schedule.warmup_updates, 1), last)
