"""Runs that fit into a test, and what is read of them afterwards."""

import io
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from latimer.config.check import check
from latimer.config.run import RunConfig
from latimer.screen import Screen
from latimer.training.run import train
from toy_run import merge, toy_settings


@dataclass(frozen=True)
class Run:
    """A run that has ended."""

    config: RunConfig
    folder: Path
    shown: str

    @property
    def checkpoints(self) -> dict[str, dict[str, Any]]:
        """The contents of all of its checkpoints by name, read as safely as PyTorch can."""
        files = sorted((self.folder / "checkpoints").glob("*.ckpt"))
        return {file.stem: torch.load(file, weights_only=True) for file in files}

    @property
    def events(self) -> EventAccumulator:
        """What TensorBoard sees."""
        unlimited = {"scalars": 0, "tensors": 0}
        return EventAccumulator(str(self.folder), size_guidance=unlimited).Reload()

    def curve(self, tag: str) -> dict[int, float]:
        """The values of a tag by their place on the x axis."""
        return {event.step: event.value for event in self.events.Scalars(tag)}

    @property
    def weights(self) -> torch.Tensor:
        """All weights of the last state."""
        state = self.checkpoints["last"]["state_dict"]
        return torch.cat([state[name].flatten() for name in sorted(state)])


def start(config: RunConfig) -> Run:
    shown = io.StringIO()
    with redirect_stdout(shown):
        folder = train(config, Screen())
    return Run(config, folder, shown.getvalue())


def configure(folder: Path, **changes: Any) -> RunConfig:
    dotted = {key.replace("__", "."): value for key, value in changes.items()}
    return check(merge(toy_settings(folder), dotted), RunConfig)
