"""The processes of a training on several devices of one machine; Lightning joins them by DDP.

The first one is the command that was given. It starts the others and hands them its checked
configuration and its run folder: they make no folder, write no file and show nothing.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import torch
from lightning_fabric.plugins.environments.lightning import LightningEnvironment
from torch import distributed

from latimer.config.run import RunConfig
from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.training.companions import Companions

RANK = "LOCAL_RANK"
"""Where Lightning looks for the number of a process."""
RUN_FOLDER = "LATIMER_RUN_FOLDER"
THREADS = "OMP_NUM_THREADS"
COMMAND = (sys.executable, "-m", "latimer.training.companion")

T = TypeVar("T")


def rank() -> int:
    """Which process of a run this is; only the first, number 0, writes and shows anything."""
    return int(os.environ[RANK]) if RUN_FOLDER in os.environ else 0


def given_folder() -> Path:
    """The run folder that the first process made for all of them."""
    return Path(os.environ[RUN_FOLDER])


@contextmanager
def joined(config: RunConfig, folder: Path, screen: Screen) -> Iterator[None]:
    """Starts the other processes of a run, which train along with the block and then leave.

    With one device, and in the other processes, this does nothing.

    Raises:
        LatimerError: one of the others failed.
    """
    if distributed.is_initialized():
        raise LatimerError(
            "this process is still joined to those of a run on several GPUs that failed; start "
            "the run with a command of its own"
        )
    if config.trainer.devices == 1 or rank() > 0:
        yield
        return
    shared = {
        RANK: "0",
        "NODE_RANK": "0",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(LightningEnvironment().main_port),
        THREADS: os.environ.get(THREADS, str(threads_each(config.trainer.devices))),
    }
    others = [
        {RANK: str(number), RUN_FOLDER: str(folder), "PYTHONPATH": _import_path()}
        for number in range(1, config.trainer.devices)
    ]
    given = json.dumps(config.model_dump(mode="json"))
    with _environment(shared), Companions(COMMAND, others, given=given, screen=screen):
        try:
            yield
        except BaseException:
            _part(("gloo",))
            raise
        _part(("gloo", "nccl"))


def summed(values: Sequence[float], device: torch.device) -> list[float]:
    """Each number summed over all processes; they are few, and ``device`` is the process's own."""
    if not distributed.is_initialized():
        return list(values)
    numbers = torch.tensor(values, dtype=torch.float64, device=device)
    distributed.all_reduce(numbers)
    return numbers.tolist()


def gather(value: T) -> list[T]:
    """The values of all processes, by their numbers; this one's alone if it is alone."""
    if not distributed.is_initialized():
        return [value]
    values: list[T] = [value] * distributed.get_world_size()
    distributed.all_gather_object(values, value)
    return values


def threads_each(devices: int) -> int:
    """The threads of a process, where nobody says otherwise: the cores are shared."""
    if THREADS in os.environ or devices == 1:
        return torch.get_num_threads()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) // devices)


def _import_path() -> str:
    """Has another process find the same modules as this one, those of the user's too."""
    return os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Sets variables and the number of threads for the block."""
    before, threads = dict(os.environ), torch.get_num_threads()
    os.environ.update(variables)
    torch.set_num_threads(int(variables[THREADS]))
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update({name: before[name] for name in variables if name in before})
        torch.set_num_threads(threads)


def _part(backends: tuple[str, ...]) -> None:
    """Leaves the group; one of GPUs can't be left while something is under way in it."""
    if distributed.is_initialized() and distributed.get_backend() in backends:
        distributed.destroy_process_group()
