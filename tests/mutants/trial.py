"""One mutant after the other, in a copy of the tree."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.mutants.belonging import ROOMS, Calls, guards_of, read_calls
from tests.mutants.sites import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.mutants.sites import Mutant

LIMIT = 600
"""Seconds for the tests of one mutant; one that makes them run on and on is noticed by that."""

MEMORY = 6 << 30
"""Bytes that the tests of a mutant may take."""

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line", "-m", "not torch and not gates")


class Outcome(NamedTuple):
    """Whether a mutant was noticed, by which test or how else, and after how many seconds."""

    killed: bool
    by: str
    seconds: float


@contextmanager
def copied_tree() -> Iterator[Path]:
    """A copy of the checkout with what is built in it: whatever happens to it, the checkout stays as it is."""
    with tempfile.TemporaryDirectory(prefix="kuiper-mutants-") as folder:
        tree = Path(folder, "kuiper")
        ignored = shutil.ignore_patterns(".git", ".venv", "dist", "site*", "temp.*", ".*_cache")
        shutil.copytree(ROOT, tree, ignore=ignored, symlinks=True)
        yield tree


def recorded_calls(tree: Path) -> Calls:
    """What each test calls, by a run of all of them (minutes)."""
    notes = tree / "calls.json"
    command = [sys.executable, *PYTEST, "-p", "tests.mutants.recorder", *ROOMS]
    subprocess.run(command, cwd=tree, env={**os.environ, "KUIPER_CALLS": str(notes)}, check=False, capture_output=True)
    return read_calls(json.loads(notes.read_text(encoding="utf-8")))


def tried(mutant: Mutant, tree: Path, calls: Calls) -> Outcome:
    """Change the copy, run the tests that belong to the mutant, and put everything back."""
    begun, path = time.monotonic(), tree / mutant.file
    text = path.read_text(encoding="utf-8")
    kernel = path.suffix == ".pyx"
    made = [*path.parent.glob(f"{path.stem}.*"), *tree.glob(f"build/**/{path.stem}.*")] if kernel else []
    with put_back(path, *made):
        path.write_text(mutant.applied(text), encoding="utf-8")
        if kernel and not built(tree):
            return Outcome(True, "the compiler", time.monotonic() - begun)
        by = noticed(guards_of(mutant, text, calls), tree)
        return Outcome(bool(by), by, time.monotonic() - begun)


@contextmanager
def put_back(*paths: Path) -> Iterator[None]:
    """Whatever happens to these files, they are as before, their times too: nothing is compiled once more."""
    with tempfile.TemporaryDirectory(prefix="kuiper-put-back-") as aside:
        for number, path in enumerate(paths):
            shutil.copy2(path, Path(aside, str(number)))
        try:
            yield
        finally:
            for number, path in enumerate(paths):
                shutil.copy2(Path(aside, str(number)), path)


def noticed(tests: list[str], tree: Path) -> str:
    """The first test that fails; nothing if none does."""
    if not tests:
        return ""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *PYTEST, "-x", *tests]
    process = subprocess.Popen(
        command, cwd=tree, env=environment, text=True, errors="replace", start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit_memory,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"no end after {LIMIT} s"
    if process.returncode in (0, 5):  # 5: no tests
        return ""
    said = re.search(r"^(?:FAILED|ERROR) (\S+\.py\S*)", output, re.MULTILINE)
    return said[1] if said else f"exit code {process.returncode}"


def limit_memory() -> None:
    """In the child: what would take all memory ends with an error."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def built(tree: Path) -> bool:
    """Build what has changed; whether it can be built."""
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    return subprocess.run(command, cwd=tree, capture_output=True, check=False, timeout=LIMIT).returncode == 0
