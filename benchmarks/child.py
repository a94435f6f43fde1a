"""Measurements in processes of their own: ``python -m benchmarks.child MODULE:FUNCTION JSON FILE``.

So none inherits another's memory, threads or warm caches.
"""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from benchmarks.workloads import ROOT
from latimer.errors import LatimerError

LAST_LINES = 15
Key = TypeVar("Key")


def measured(task: str, **arguments: Any) -> Any:
    """What a function gives in a process of its own.

    Args:
        task: "module:function"; it takes and gives plain values.
        arguments: of the function.

    Raises:
        LatimerError: the process failed; its last lines are in the message.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder, "result.json")
        run([sys.executable, "-m", "benchmarks.child", task, json.dumps(arguments), str(file)])
        return json.loads(file.read_text(encoding="utf-8"))


def run(command: Sequence[str]) -> None:
    """Runs a command in the repository's folder, and keeps what it prints for the case of a fault.

    Raises:
        LatimerError: it failed.
    """
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-LAST_LINES:])
        raise LatimerError(f"{' '.join(command)[:300]} failed ({done.returncode}):\n{last}")


def interleaved(competitors: Iterable[Key], repeats: int) -> Iterator[Key]:
    """Takes turns, A B C A B C: whatever slows the machine for a while slows all of them."""
    names = list(competitors)
    for _ in range(repeats):
        yield from names


def by_competitor(runs: Iterable[tuple[Key, Any]]) -> Mapping[Key, list[Any]]:
    """The results of each competitor, in order."""
    results: dict[Key, list[Any]] = {}
    for key, result in runs:
        results.setdefault(key, []).append(result)
    return results


def main() -> None:
    """Does what the command line says, and writes its result as JSON."""
    task, arguments, file = sys.argv[1:]
    module, name = task.split(":")
    result = getattr(importlib.import_module(module), name)(**json.loads(arguments))
    Path(file).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
