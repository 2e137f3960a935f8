"""The tables of stations are what a run gives, and the trace finds what it says."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kuiper.course.places import pytest_environment
from kuiper.machine import build
from tests import stations

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(not (build.FUSES and build.LANES > 1), reason="this build has no plan that is the same everywhere")
def test_pages_have_the_stations_of_a_run() -> None:
    """In a fresh process: what is kept from run to run, and pytest itself, are as they are for a user."""
    command = [sys.executable, "-m", "tests.stations", "--check"]
    finished = subprocess.run(command, cwd=ROOT, env=pytest_environment(), capture_output=True, encoding="utf-8")
    assert finished.returncode == 0, f"run: python -m tests.stations\n{finished.stdout}{finished.stderr}"


TOP = """
import made_up.low, made_up.parts.a, made_up.parts.b, made_up.parts.c
def load():
    \"\"\"Load it; then run.\"\"\"
    for part in (made_up.parts.a, made_up.parts.b, made_up.parts.c):
        part.run()
    made_up.low.long()
    made_up.low.tiny()
    for _ in range(3):
        made_up.low.often()
    _private()
def _private():
    made_up.low.leads_back()
def back():
    return 1
"""
LOW = """
import made_up
def long():
    a = b = c = 0
    a += 1
    b += 1
    c += 1
    return a
def tiny():
    return long()
def often():
    return long()
def leads_back():
    \"\"\"Call another file. It is short.\"\"\"
    return made_up.top.back()
"""
PART = "def run():\n    return 1\n"


def test_rows_are_public_functions_that_another_file_calls_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "made_up"
    (folder / "parts").mkdir(parents=True)
    texts = {"top": TOP, "low": LOW, **{f"parts/{name}": PART for name in "abc"}}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(stations, "PACKAGE", f"{folder}{os.sep}")
    monkeypatch.syspath_prepend(tmp_path)
    top = importlib.import_module("made_up.top")
    with stations.Trace() as trace:
        top.load()
    rows = trace.rows(depth=2)
    assert [[function.name for function in row] for row in rows] == [["load"], ["run", "run", "run"], ["leads_back"]]
    assert [row[0].sentence for row in rows] == ["Load it", "", "Call another file"]
    assert [[function.name for function in row] for row in trace.rows(depth=1)] == [["load"], ["run", "run", "run"]]
