"""The validations of a run in their order of merit: which states were the best, and since when."""

from dataclasses import asdict, dataclass
from typing import Any

from latimer.config.training import lower_is_better


@dataclass(frozen=True)
class ScoredState:
    """A state of a run, and what its own validation gave.

    Attributes:
        update: optimizer updates behind it.
        scores: the values of all validation tags.
    """

    update: int
    scores: dict[str, float]


class BestStates:
    """The states of a run with the best scores, and how long none has been better than the best.

    Of two states with the same score the earlier one is the better.

    Args:
        monitor: the tag of the score that "best" means; its direction follows from it.
        kept: how many states are remembered.
    """

    def __init__(self, monitor: str, kept: int) -> None:
        self.monitor = monitor
        self.kept = kept
        self.states: list[ScoredState] = []
        """Best first."""
        self.validations_since_best = 0

    @property
    def best(self) -> ScoredState | None:
        """The best one; None before the first validation."""
        return self.states[0] if self.states else None

    def add(self, state: ScoredState) -> bool:
        """Takes a validated state into account; whether it is the best one so far."""
        improved = self.is_better(state, self.best)
        self.validations_since_best = 0 if improved else self.validations_since_best + 1
        self._rank([*self.states, state])
        return improved

    def is_better(self, state: ScoredState, than: ScoredState | None) -> bool:
        """Compares two states by the monitored score, as the float64 that it is."""
        return than is None or self._merit(state) > self._merit(than)

    def state_dict(self) -> dict[str, Any]:
        """All of it, as plain values."""
        return {
            "states": [asdict(state) for state in self.states],
            "validations_since_best": self.validations_since_best,
        }

    def load_state_dict(self, stored: dict[str, Any]) -> None:
        """Goes on from stored values; under another monitor the kept states are ranked anew."""
        self.validations_since_best = stored["validations_since_best"]
        self._rank([ScoredState(**state) for state in stored["states"]])

    def _rank(self, states: list[ScoredState]) -> None:
        by_age = sorted(states, key=lambda state: state.update)
        self.states = sorted(by_age, key=self._merit, reverse=True)[: self.kept]

    def _merit(self, state: ScoredState) -> float:
        score = state.scores[self.monitor]
        return -score if lower_is_better(self.monitor) else score
