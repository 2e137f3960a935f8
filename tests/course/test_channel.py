"""Processes that do whatever they like with their ends of the pipes; none of them imports anything of kuiper."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kuiper.course.remote import Worker

LOADED = '{"tuple": [1, null, null, {"dict": []}, ""]}'
START = f"""
import os, sys, time
write = lambda text: os.write(1, text if isinstance(text, bytes) else text.encode())
write("ready\\n")
sys.stdin.readline()
write({LOADED!r} + "\\n")
sys.stdin.readline()
answer = '{{"tuple": [2, %s, null, {{"dict": []}}, ""]}}\\n'
"""


def worker(body: str) -> Worker:
    return Worker([sys.executable, "-I", "-S", "-c", START + body])


def ask(worker: Worker, path: Path, timeout: float = 2.0, args: tuple[Any, ...] = (1,)) -> Any:
    path.write_text("")
    request = {
        "root": "",
        "paths": {"1.1": str(path)},
        "exercise": "1.1",
        "mode": "safe",
        "function": "f",
        "probe": "",
        "args": args,
    }
    try:
        return worker.call({**request, "kwargs": {}}, timeout)
    finally:
        worker.stop()


def test_an_answer_arrives(tmp_path: Path) -> None:
    assert ask(worker('write(answer % "[1, 2]")'), tmp_path / "f.py", 20.0).value == [1, 2]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('write(answer.replace("2", "1", 1) % 6)', "answer could not be read"),
        ('write(answer.replace("2", "true", 1) % 6)', "answer could not be read"),
        ('write(answer.replace("2", "2.0", 1) % 6)', "answer could not be read"),
        ('write("ready\\n")', "answer could not be read"),
        ('write(b"\\x80\\x04c__builtin__\\nprint\\n")', "answer could not be read"),
        ('write(answer % ("[" * 50_000))', "answer could not be read"),
        ('write(answer % ("[" + "[]," * 300_000 + "1]"))', "at most 200000 values"),
        ('write(answer % \'{"array": ["<f4", [1e400], "C", ""]}\')', "answer could not be read"),
        ('write(answer % \'{"array": ["<f4", [0, 1000000000], "C", ""]}\')', "answer could not be read"),
        ('write(answer % \'{"dict": [[{"dict": []}, 1]]}\')', "answer could not be read"),
        ('while True: write("x" * 65536)', "ended in the middle"),
        ('while True: write(answer % "0")', "."),
        ("os.close(1); time.sleep(60)", "ended in the middle"),
        ("time.sleep(60)", "no answer within 2 seconds"),
        ("os._exit(0)", "ended in the middle"),
        ("os.kill(os.getpid(), 11)", "segmentation fault"),
    ],
)
def test_hostile_ends_are_one_failure(tmp_path: Path, body: str, words: str) -> None:
    seen = ask(worker(body), tmp_path / "f.py")
    message = seen.raised.message if seen.raised else "."
    assert words in message


def test_who_does_not_read_is_not_waited_for(tmp_path: Path) -> None:
    big = np.zeros(500_000)
    hostile = Worker([sys.executable, "-I", "-S", "-c", 'import os, time\nos.write(1, b"ready\\n")\ntime.sleep(60)'])
    hostile._loaded.add((str(tmp_path / "f.py"), "safe"))
    started = time.monotonic()
    hostile._start()
    hostile._loaded.add((str(tmp_path / "f.py"), "safe"))
    assert ask(hostile, tmp_path / "f.py", 1.0, (big,)).raised.type == "EndlessLoop"
    assert time.monotonic() - started < 30


CROWDED = """
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
parent = os.getpid()
for _ in range(4):
    if os.fork() == 0:
        while os.getppid() == parent: pass
        os._exit(0)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="Linux counts who waits for a core")
def test_waiting_for_a_core_does_not_count(tmp_path: Path) -> None:
    body = CROWDED + 'while time.process_time() < 0.5: pass\nwrite(answer % "[1, 2]")'
    assert ask(worker(body), tmp_path / "f.py", 1.0).value == [1, 2]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are tied to a core")
def test_an_endless_loop_ends_on_a_crowded_core_too(tmp_path: Path) -> None:
    assert "no answer" in ask(worker(f"{CROWDED}while True: pass"), tmp_path / "f.py", 0.2).raised.message


@pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")
def test_a_child_that_keeps_the_pipe_is_ended(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    body = f"""
if os.fork() == 0:
    os.setsid()
    open({str(mark)!r}, "w").write(str(os.getpid()))
    time.sleep(600)
while not os.path.exists({str(mark)!r}) or not open({str(mark)!r}).read(): time.sleep(0.01)
time.sleep(600)
"""
    started = time.monotonic()
    assert ask(worker(body), tmp_path / "f.py").raised.type == "EndlessLoop"
    assert time.monotonic() - started < 60
    child = int(mark.read_text())
    for _ in range(200):
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or " Z " in state.read_text():
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child still runs")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_stays_flat_whatever_is_sent(tmp_path: Path) -> None:
    bodies = ['write(answer % ("[" + "[]," * 150_000 + "1]"))', 'while True: write("x" * 65536)']
    for body in bodies * 2:
        ask(worker(body), tmp_path / "f.py", 5.0)
    gc.collect()
    before = resident()
    for body in bodies * 5:
        ask(worker(body), tmp_path / "f.py", 5.0)
    gc.collect()
    assert resident() - before < 64 * 1024 * 1024
    time.sleep(0.5)
    assert threading.active_count() < 10


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
