"""The one place that loads the classroom's pytest plugin, and what pytest must not import where PyTorch is missing."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import sys
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

# One worker runs on each core, and threads that wait for work without sleeping take the core from the other workers: of
# OpenMP, which kuiper's layers use, and of NumPy's OpenBLAS. Both read this when they are loaded, which is after this
# line; the programs that tests start inherit it.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

pytest_plugins = ["kuiper.course.pytest_plugin"]

# --doctest-modules imports every module that it finds.
NEED_TORCH = [
    "kuiper/models/zoo/*",
    "tests/fixtures/*",
    "tests/networks/*",
    "benchmarks/architectures/*",
    "benchmarks/operator_modules.py",
]
collect_ignore = ["tests/fuzz/search.py"]  # a program: importing it instruments kuiper, and needs atheris
NEED_POSIX = ["tests/soak.py", "tests/test_soak.py"]
collect_ignore_glob = [] if importlib.util.find_spec("torch") else NEED_TORCH
collect_ignore_glob += NEED_POSIX if sys.platform == "win32" else []


def pytest_configure() -> None:
    """Let Ctrl-C reach the programs that the tests start, also where a shell started pytest in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """More than 15,000 tests are kept to the end: the search for garbage is not to go through them each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The examples of a module that needs PyTorch need it, too: "not torch" means the same tests everywhere."""
    paths = {item.path for item in items}  # far fewer than tests
    need_torch = {path for path in paths if any(fnmatch(path.as_posix(), f"*/{end}") for end in NEED_TORCH)}
    for item in items:
        if item.path in need_torch:
            item.add_marker(pytest.mark.torch)
