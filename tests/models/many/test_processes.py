"""Processes that do their work, die, are killed, and never begin."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from kuiper.errors import ExecutionError, ParameterError
from kuiper.models.many.processes import over_processes
from tests.models.predictions import Deadly, Named, Raising, Unborn

ROOT = Path(__file__).parents[2]
PATHS = [f"{i}.png" for i in range(20)]

PARENT = """
from kuiper.models.many.processes import over_processes
from tests.models.predictions import Named

if __name__ == "__main__":
    records = over_processes(Named(), map(str, range(9)), processes=1)
    print(next(records)["pid"], flush=True)
    input()
"""


def test_over_processes_gives_a_record_of_each_picture() -> None:
    records = list(over_processes(Named(), PATHS, processes=2))
    assert sorted(record["image"] for record in records) == sorted(PATHS)
    workers = {record["pid"] for record in records}
    assert os.getpid() not in workers
    assert 1 <= len(workers) <= 2


def test_over_processes_of_no_pictures_starts_none() -> None:
    assert list(over_processes(Unborn(), [], processes=2)) == []


def test_over_processes_starts_no_more_than_there_are_pictures() -> None:
    records = over_processes(Named(), ["a"], processes=8)
    next(records)
    assert len(multiprocessing.active_children()) == 1
    records.close()


def test_over_processes_does_a_picture_again_whose_worker_died(tmp_path: Path) -> None:
    predict = Deadly(str(tmp_path / "log"), lives=1)
    records = list(over_processes(predict, ["a", "deadly", "b", "c"], processes=1))
    assert sorted(record["image"] for record in records) == ["a", "b", "c", "deadly"]
    assert not any("error" in record for record in records)


def test_over_processes_gives_up_a_picture_that_kills_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"
    paths = ["deadly", *PATHS]
    records = list(over_processes(Deadly(str(log), lives=9), paths, processes=1))
    assert Counter(record["image"] for record in records) == Counter(paths)
    (failed,) = [record for record in records if "error" in record]
    error = "deadly: expected a process that survives it, got exit code 3, 2 times"
    assert failed == {"image": "deadly", "error": error}
    assert log.read_text(encoding="utf-8").splitlines().count("deadly") == 2


def test_over_processes_goes_on_when_a_worker_is_killed() -> None:
    records = over_processes(Named(), PATHS, processes=2)
    first = next(records)
    os.kill(first["pid"], getattr(signal, "SIGKILL", signal.SIGTERM))
    everything = [first, *records]
    assert Counter(record["image"] for record in everything) == Counter(PATHS)
    assert not any("error" in record for record in everything)


def test_over_processes_ends_its_processes_when_it_is_closed() -> None:
    records = over_processes(Named(), PATHS, processes=1)
    next(records)
    assert multiprocessing.active_children()
    records.close()
    assert not multiprocessing.active_children()


def test_over_processes_ends_its_processes_when_their_parent_is_killed() -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    assert int(parent.stdout.readline()) != parent.pid
    parent.kill()
    parent.communicate(timeout=60)  # returns when nobody can write to its stdout any more, so when all workers are gone


def test_over_processes_passes_on_what_is_wrong_with_the_model() -> None:
    with pytest.raises(ExecutionError, match="expected a record, got LookupError: no model for a"):
        list(over_processes(Raising(), ["a"], processes=1))


def test_over_processes_does_not_start_processes_for_ever() -> None:
    with pytest.raises(
        ExecutionError, match=r"expected processes that start, got 3 in a row that died, .* exit code 4"
    ):
        list(over_processes(Unborn(), PATHS, processes=1))


def test_over_processes_refuses_to_be_none() -> None:
    with pytest.raises(ParameterError, match="expected processes >= 1, got 0"):
        list(over_processes(Named(), PATHS, processes=0))
