"""How long a run will be: in updates, in epochs, and on the clock."""

from dataclasses import dataclass

from latimer.config.training import TrainerConfig
from latimer.training.trainer import last_update


@dataclass(frozen=True)
class Pace:
    """How fast a run goes.

    Attributes:
        update: seconds of an update.
        validation: seconds of a validation.
        every_updates: updates between two validations.
    """

    update: float
    validation: float
    every_updates: int

    def seconds(self, updates: int) -> float:
        """The time of so many updates and of the validations among them."""
        return updates * self.update + self.validations(updates) * self.validation

    def validations(self, updates: int) -> int:
        """The validations of so many updates; the last update is followed by one."""
        return -(-updates // self.every_updates)

    def updates(self, seconds: float) -> int:
        """The updates that are done in a time; one is always begun, and then finished."""
        period = self.seconds(self.every_updates)
        periods, left = divmod(seconds, period)
        begun = min(int(left / self.update) + 1, self.every_updates)
        return int(periods) * self.every_updates + begun


@dataclass(frozen=True)
class Forecast:
    """What will become of a run.

    Attributes:
        updates: how many there will be.
        seconds: how long they and their validations take.
        limit: the key that ends it.
    """

    updates: int
    seconds: float
    limit: str


def forecast(limits: TrainerConfig, updates_per_epoch: int, pace: Pace) -> Forecast:
    """The limit that a run reaches first, and when."""
    last = last_update(limits, updates_per_epoch)
    if limits.max_time:
        hours, minutes, rest = map(int, limits.max_time.split(":"))
        seconds = 3600 * hours + 60 * minutes + rest
        in_time = pace.updates(seconds)
        if last is None or in_time < last:
            return Forecast(in_time, seconds, f"trainer.max_time={limits.max_time}")
    assert last is not None
    name = "max_updates" if last == limits.max_updates else "max_epochs"
    return Forecast(last, pace.seconds(last), f"trainer.{name}={getattr(limits, name)}")
