import json
import mmap
import subprocess
import sys

import pytest

from benchmarks.child import by_competitor, interleaved, measured
from benchmarks.laps import Laps
from benchmarks.machine import describe_machine, precisions
from benchmarks.memory import peak_resident, reset_peak, resident
from benchmarks.workloads import ROOT
from latimer.errors import LatimerError

BLOCK = 2**26


def test_competitors_take_turns():
    turns = list(interleaved(["a", "b"], 3))
    assert turns == ["a", "b", "a", "b", "a", "b"]
    assert by_competitor(zip(turns, range(6), strict=True)) == {"a": [0, 2, 4], "b": [1, 3, 5]}


def test_a_child_gives_its_result():
    assert measured("json:loads", s="[1, 2]") == [1, 2]


def test_a_child_that_fails_is_told_of():
    with pytest.raises(LatimerError, match="JSONDecodeError"):
        measured("json:loads", s="[1,")


def test_only_updates_after_the_warm_up_count(monkeypatch):
    times = iter([1.0, 3.0, 4.0, 6.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(times))
    laps = Laps(warmup=2)
    laps.start()
    for pieces in (10, 20, 30, 40):
        laps.end_of_update(pieces)
    result = laps.result()
    assert (result["updates"], result["pieces"], result["seconds"]) == (2, 70, 3.0)
    assert result["all_pieces"] == [10, 20, 30, 40]
    json.dumps(result)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux forgets a peak")
def test_the_peak_of_memory_is_seen_and_forgotten():
    reset_peak()
    before = resident()
    # Not from the heap, which may have had as much before and hand it out again.
    with mmap.mmap(-1, BLOCK) as block:
        for page in range(0, BLOCK, mmap.PAGESIZE):
            block[page] = 1
    assert peak_resident() >= before + 0.9 * BLOCK
    reset_peak()
    assert peak_resident() < before + 0.9 * BLOCK


def test_the_machine_is_described_in_plain_values():
    machine = describe_machine()
    assert json.loads(json.dumps(machine)) == machine
    assert machine["cores"] >= 1
    assert "torch" in machine
    assert "float32" in precisions()


@pytest.mark.slow
def test_the_whole_benchmark_at_toy_size(tmp_path):
    file = tmp_path / "results.json"
    command = [sys.executable, "-m", "benchmarks", "run", "--tiny", "--repeats", "1"]
    done = subprocess.run(
        [*command, "--output", str(file)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(file.read_text(encoding="utf-8"))
    assert set(results) == {"machine", "training", "products", "decoding", "profile", "start"}
    batches = {json.dumps(row["runs"][0]["all_pieces"]) for row in results["training"]}
    assert len(batches) == 1, "ours and the baselines had different batches"
    assert {tuple(row["runs"][0]["steps"]) for row in results["decoding"]} == {(20,)}
    assert {row["what"] for row in results["profile"]} == {"update", "search"}
    assert all(row["products"] > 0 and row["rest"] > 0 for row in results["profile"])
    headings = ("machine", "training", "memory", "products", "decoding", "profile", "start")
    for heading in headings:
        assert f"## {heading}\n" in done.stdout
