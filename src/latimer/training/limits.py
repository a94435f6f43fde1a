"""What ends a run, and whether a saved state has come to it."""

from datetime import timedelta

from latimer.config.run import RunConfig
from latimer.training.saved_state import SavedState
from latimer.training.trainer import last_update


def reached_limit(state: SavedState, config: RunConfig, updates_per_epoch: int) -> str | None:
    """Which limit a state has come to, and what to write to go beyond it; None if none."""
    for reached in (
        _by_updates(state, config, updates_per_epoch),
        _by_time(state, config),
        _by_patience(state, config),
    ):
        if reached:
            key, value, done = reached
            return f"it is at {done} and {key} is {value}: nothing to do; raise {key}"
    return None


Reached = tuple[str, str, str] | None
"""The key of a limit, its value, and how far the state has come."""


def _by_updates(state: SavedState, config: RunConfig, updates_per_epoch: int) -> Reached:
    limits = config.trainer
    last = last_update(limits, updates_per_epoch)
    if last is None or state.updates < last:
        return None
    done = f"update {state.updates:,}"
    if limits.max_updates == last:
        return "trainer.max_updates", f"{last:,}", done
    done += f" after {state.updates // updates_per_epoch:,} epochs"
    return "trainer.max_epochs", f"{limits.max_epochs:,}", done


def _by_time(state: SavedState, config: RunConfig) -> Reached:
    limit = config.trainer.max_time
    if limit is None:
        return None
    hours, minutes, seconds = map(int, limit.split(":"))
    if state.seconds < 3600 * hours + 60 * minutes + seconds:
        return None
    done = f"{timedelta(seconds=int(state.seconds))} of training"
    return "trainer.max_time", limit, done


def _by_patience(state: SavedState, config: RunConfig) -> Reached:
    patience, count = config.validation.patience, state.validations_since_best
    if patience is None or count < patience:
        return None
    return "validation.patience", f"{patience:,}", f"{count:,} validations since the best one"
