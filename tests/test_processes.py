"""What may happen to the process that a model runs in: forks, little memory, Ctrl-C. The model answers, and goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the limit on a process's memory is Linux's")

# What each of the scripts below begins with: each needs a process of its own.
BEGINNING = """
import multiprocessing, os, pickle, random, resource, signal, sys, threading, time
import numpy as np
import kuiper
from kuiper.models import bundled

models = [kuiper.load(bundled("cifar_resnet20"), optimize=optimize) for optimize in (True, False)]
fast, plain = models
x = np.random.default_rng(0).standard_normal((5, 3, 32, 32)).astype(np.float32)

def answer(model, x=x): return np.asarray(model(x)).copy()

def child(work):
    number = os.fork()
    if number == 0:
        signal.alarm(60)
        good = False
        try: good = work()
        finally: os._exit(0 if good else 1)
    return number

def status(number): return os.waitpid(number, 0)[1]
"""


def run(script: str) -> list[str]:
    """The words that the script prints; it must end well, and soon.

    The layers' threads sleep while they wait for each other. By default they spin, and on a machine that has other work
    they take the cores from the thread that they wait for: that made these scripts more than ten times slower.
    """
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", BEGINNING + script]
    root, environment = Path(__file__).parents[1], os.environ | {"OMP_WAIT_POLICY": "passive"}
    answer = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=110, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.split()


@FORKS
def test_a_forked_process_may_ask_for_threads_on_both_paths() -> None:
    script = """
kuiper.set_num_threads(2)
expected = [answer(model) for model in models]
def work():
    kuiper.set_num_threads(2)
    return all(np.array_equal(answer(m), e) for m, e in zip(models, expected))
print(status(child(work)))
print(status(child(lambda: status(child(work)) == 0)))
"""
    assert run(script) == ["0", "0"]


@FORKS
def test_processes_forked_from_one_that_has_served_serve_at_the_same_time() -> None:
    script = """
kuiper.set_num_threads(2)
expected = [answer(model) for model in models]
def work(): return all(np.array_equal(answer(m), e) for m, e in zip(models * 2, expected * 2))
children = [child(work) for _ in range(4)]
print(*map(status, children))
print(work())
"""
    assert run(script) == ["0"] * 4 + ["True"]


@FORKS
def test_a_fork_while_another_thread_plans_or_runs_leaves_the_child_usable() -> None:
    script = """
expected = [answer(model) for model in models]
stop = threading.Event()
def other():
    size = 1
    while not stop.is_set():
        for model in models: answer(model, x[: 1 + size % 5])
        kuiper.load(bundled("cifar_resnet20"))(x[:1])
        size += 1
threads = [threading.Thread(target=other) for _ in range(2)]
for thread in threads: thread.start()
def work():
    fresh = kuiper.load(bundled("cifar_resnet20"))
    return all(np.array_equal(answer(m), e) for m, e in zip([*models, fresh], [*expected, expected[0]]))
print(*[status(child(work)) for _ in range(6)])
stop.set()
for thread in threads: thread.join()
"""
    assert run(script) == ["0"] * 6


@FORKS
def test_a_lock_that_another_thread_holds_is_open_in_the_child() -> None:
    script = """
from kuiper.engine import memory
from kuiper.models import predictor
expected = answer(fast)
held, leave = threading.Event(), threading.Event()
def hold():
    with fast._execution.executor._lock, fast._execution.fallbacks._lock, memory._lock, predictor._lock:
        held.set()
        leave.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
def work():
    one = predictor.Predictor(bundled("cifar_resnet20"))
    alike = np.array_equal(answer(fast), expected) and answer(fast, x[:3]).shape == (3, 10)
    return alike and fast.fallbacks == () and one.load() is not None
print(status(child(work)))
leave.set()
thread.join()
"""
    assert run(script) == ["0"]


@FORKS
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_of_processes_is_handed_models(method: str) -> None:
    script = f"""
import operator
expected = [answer(model) for model in models]
answers = []
if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        answers = pool.starmap(operator.call if hasattr(operator, "call") else apply, [(m, x) for m in models])
print(all(np.array_equal(np.asarray(a), e) for a, e in zip(answers, expected)))
"""
    script = "def apply(f, *arguments): return f(*arguments)\n" + script
    if method == "spawn" and sys.version_info < (3, 11):
        pytest.skip("a function of a script that has no file cannot be imported by a spawned process")
    assert run(script) == ["True"]


SCARCE = """
def limit(rest):
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + rest, resource.RLIM_INFINITY))

def free(): resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

def outcome(work):
    try:
        work()
        return "enough"
    except kuiper.KuiperError as error:
        assert isinstance(error, MemoryError) and isinstance(error, kuiper.OutOfMemoryError), repr(error)
        return "little:" + error.where.replace(" ", "_")
"""


@LINUX
@pytest.mark.parametrize("path", ["fast", "plain"])
def test_a_run_without_enough_memory_is_an_error_and_the_next_one_an_answer(path: str) -> None:
    script = f"""
large = np.concatenate([x] * 20)
model = {path}
found = set()
for rest, threads in ((0, 1), (1 << 18, 1), (1 << 22, 1), (1 << 22, 2), (1 << 23, 1), (1 << 24, 1), (1 << 30, 1)):
    kuiper.set_num_threads(threads)
    other = pickle.loads(pickle.dumps(model))
    limit(rest)
    found.add(outcome(lambda: other(large)))
    free()
    assert np.array_equal(answer(other), answer(model)), rest
print(*sorted(found))
"""
    outcomes = run(SCARCE + script)
    assert outcomes[0] == "enough"
    assert len(outcomes) > 1
    assert all(word.startswith(("little:kuiper.Fused", "little:nn.", "little:pnnx.")) for word in outcomes[1:])


@LINUX
def test_a_load_without_enough_memory_is_an_error() -> None:
    script = """
found = set()
for rest in (0, 1 << 12, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26):
    limit(rest)
    found.add(outcome(lambda: [kuiper.load(bundled("digits_yolo")) for _ in range(40)]).partition(":")[0])
    free()
print(*sorted(found))
assert np.array_equal(answer(kuiper.load(bundled("cifar_resnet20"))), answer(fast))
"""
    assert run(SCARCE + script) in (["enough", "little"], ["little"])


@LINUX
def test_a_conversion_of_an_input_without_enough_memory_is_an_error() -> None:
    script = """
doubles = np.zeros((4000, 3, 32, 32))
limit(1 << 20)
print(*(outcome(lambda: model(doubles)) for model in models))
"""
    assert run(SCARCE + script) == ["little:pnnx.Input_'pnnx_input_0'"] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no signal that comes from outside")
@pytest.mark.parametrize("path", ["fast", "plain"])
def test_an_interrupt_at_any_moment_leaves_the_model_usable(path: str) -> None:
    """Modules are imported before: CPython ends by SIGINT if one came while a module made a dataclass, even if caught.

    What takes note of it is ``exec`` of a text (``unhandled_keyboard_interrupt`` in pythonrun.c).
    """
    script = f"""
model = {path}
expected = {{n: answer(model, x[:n]) for n in (1, 2, 3, 4, 5)}}
model.plan(x, runs=1) if model is fast else model.profile(x, runs=1)
moments = random.Random(0)
signal.signal(signal.SIGALRM, signal.default_int_handler)
came = 0
for turn in range(40):
    n = moments.choice(sorted(expected))
    other = kuiper.load(bundled("cifar_resnet20"), optimize=model is fast) if turn % 4 == 0 else other
    try:
        signal.setitimer(signal.ITIMER_REAL, 10 ** moments.uniform(-4.5, -1.5))
        kuiper.load(bundled("cifar_resnet20"), optimize=model is fast)
        other(x[:n])
        other.plan(x[:n], runs=1) if model is fast else other.profile(x[:n], runs=1)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        came += 1
    assert all(np.array_equal(answer(m, x[:n]), expected[n]) for m in (other, model))
print(came > 10)
"""
    assert run(script) == ["True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no signal that comes from outside")
def test_an_interrupt_while_other_threads_run_leaves_the_model_usable() -> None:
    script = """
expected = answer(fast)
stop, wrong = threading.Event(), []
def other():
    while not stop.is_set():
        if not np.array_equal(answer(fast), expected): wrong.append(1)
threads = [threading.Thread(target=other) for _ in range(2)]
for thread in threads: thread.start()
came = 0
for turn in range(30):
    try:
        threading.Timer(0.001 * (1 + turn % 10), os.kill, (os.getpid(), signal.SIGINT)).start()
        while True: fast(x)
    except KeyboardInterrupt:
        came += 1
stop.set()
for thread in threads: thread.join()
print(came, len(wrong), np.array_equal(answer(fast), expected))
"""
    assert run(script) == ["30", "0", "True"]


def test_no_python_code_runs_while_a_model_is_dropped() -> None:
    """A Ctrl-C in a weak reference's callback or in a ``__del__`` would be printed and forgotten."""
    script = """
import gc
for optimize in (True, False):
    model = kuiper.load(bundled("cifar_resnet20"), optimize=optimize)
    answer(model)
    called = []
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    del model
    gc.collect()
    sys.setprofile(None)
    print(*called, "none")
"""
    assert run(script) == ["none", "none"]
