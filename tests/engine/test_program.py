"""The engine's own threads: nobody waits for one that does not come, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import kuiper
from kuiper.engine.program import workers
from kuiper.models import bundled
from tests.engine.models import numbers

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

# What each of the scripts below begins with: they count threads and processes, and need a process of their own.
BEGINNING = """
import multiprocessing, os, signal, threading, time
import numpy as np
import kuiper
from kuiper.engine.program import workers
from kuiper.models import bundled

model = kuiper.load(bundled("cifar_resnet20"))
x = np.random.default_rng(0).standard_normal((1, 3, 32, 32)).astype(np.float32)
kuiper.set_num_threads(1)
expected = np.asarray(model(x)).copy()

def answers(threads, times=20):
    kuiper.set_num_threads(threads)
    return all(np.array_equal(np.asarray(model(x)), expected) for _ in range(times))
"""


def run(script: str) -> list[str]:
    """The words that the script prints; it must end well, and soon."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", BEGINNING + script]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=100)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.split()


def test_workers_are_hired_when_they_are_needed_and_kept() -> None:
    script = """
print(workers())
for threads in (1, 3, 2, 1):
    assert answers(threads)
    print(workers())
"""
    first, alone, *later = map(int, run(script))
    assert (first, alone) == (0, 0)
    assert 2 <= later[0] <= later[1] <= later[2] <= max(3, kuiper.build_info()["cores"]) - 1


@pytest.mark.usefixtures("restore_threads")
def test_run_gives_the_same_bits_with_more_threads_than_cores() -> None:
    model, x = kuiper.load(bundled("cifar_resnet20")), numbers(1, 3, 32, 32)
    kuiper.set_num_threads(1)
    expected = np.asarray(model(x)).copy()
    for threads in (2, 8, 3, 32):
        kuiper.set_num_threads(threads)
        for _ in range(100):
            np.testing.assert_array_equal(np.asarray(model(x)), expected)
    assert workers() >= 31


@pytest.mark.usefixtures("restore_threads")
def test_many_callers_may_change_the_number_of_threads_as_they_run() -> None:
    model, x = kuiper.load(bundled("cifar_resnet20")), numbers(1, 3, 32, 32)
    expected = np.asarray(model(x)).copy()

    def work(caller: int) -> bool:
        good = True
        for turn in range(50):
            kuiper.set_num_threads(1 + (caller + turn) % 5)
            good &= np.array_equal(np.asarray(model(x)), expected)
        return good

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


@pytest.mark.thorough
def test_callers_share_the_workers() -> None:
    script = """
kuiper.set_num_threads(2)
callers = [threading.Thread(target=answers, args=(2, 200)) for _ in range(6)]
for caller in callers: caller.start()
for caller in callers: caller.join()
print(workers() <= max(2, kuiper.build_info()["cores"]) - 1)
"""
    assert run(script) == ["True"]


@pytest.mark.thorough
@FORKS
@pytest.mark.parametrize("busy", [False, True])
def test_a_child_hires_workers_of_its_own(busy: bool) -> None:
    script = f"""
assert answers(3)
stop = threading.Event()
def run_on():
    while {busy} and not stop.is_set(): model(x)
other = threading.Thread(target=run_on)
other.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        good = workers() == 0 and answers(3) and workers() >= 2
        os._exit(0 if good else 1)
    print(os.waitpid(child, 0)[1])
stop.set()
other.join()
assert answers(3)
"""
    assert run(script) == ["0"] * 10


@FORKS
def test_a_forked_pool_of_processes_runs_models() -> None:
    script = """
assert answers(2)
def work(seed):
    signal.alarm(30)
    return answers(2)
with multiprocessing.get_context("fork").Pool(3) as pool:
    print(*pool.map(work, range(9)))
"""
    assert run(script) == ["True"] * 9


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not tell a process its size")
def test_runs_leave_no_memory_behind() -> None:
    script = """
def pages(): return int(open("/proc/self/statm").read().split()[1])
assert answers(2, 1000)
before, files = pages(), len(os.listdir("/proc/self/fd"))
assert answers(2, 3000)
print((pages() - before) * os.sysconf("SC_PAGE_SIZE") < 1 << 20, len(os.listdir("/proc/self/fd")) - files)
"""  # a job left behind by each run would be 3 MB or more
    assert run(script) == ["True", "0"]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list threads")
def test_workers_leave_signals_to_python() -> None:
    script = """
before = set(os.listdir("/proc/self/task"))
assert answers(3)
for task in sorted(set(os.listdir("/proc/self/task")) - before):
    lines = open(f"/proc/self/task/{task}/status").read().splitlines()
    blocked = int(next(line for line in lines if line.startswith("SigBlk")).split()[1], 16)
    print(blocked >> signal.SIGINT - 1 & 1, blocked >> signal.SIGSEGV - 1 & 1)
"""
    words = run(script)
    assert len(words) >= 4
    assert words == ["1", "0"] * (len(words) // 2)
