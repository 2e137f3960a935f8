"""Run a real network on your own layers: what is yours, where it first goes wrong, and how fast it is."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from kuiper.course.errors import CourseError
from kuiper.course.manifest import read_syllabus
from kuiper.course.places import python_environment, root_here
from kuiper.course.race import Divergence, Result, contestant, race, remember
from kuiper.course.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable

BAR = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = "resnet20, expressions, or the path of a .param file (default: resnet20)"
    parser.add_argument("model", nargs="?", default="resnet20", metavar="MODEL", help=words)
    parser.add_argument("--seconds", type=float, default=300.0, help="give up after this long (default: 300)")
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)  # set for the process that runs your code


def execute(arguments: argparse.Namespace) -> int:
    if arguments.result is not None:
        return run_here(arguments.model, arguments.result)
    root = root_here()
    result = run_apart(arguments.model, arguments.seconds)
    history = remember(root, result)
    show(result, history[:-1], Console(highlight=False, soft_wrap=True, markup=False))
    return 1 if result.divergence or result.failures else 0


def run_here(model: str, path: Path) -> int:
    """Run the race in this process and write its result; the place of the moment stands in a file beside it."""
    load, inputs = contestant(model)
    result = race(Selection(read_syllabus(root_here())), model, load, inputs, note_in(path.with_suffix(".place")))
    path.write_text(json.dumps(asdict(result)), encoding="utf-8")
    return 0


def run_apart(model: str, seconds: float) -> Result:
    """Run the race in a process of its own: a layer may crash, or never return.

    Raises
    ------
    CourseError
        If it does; the message names the operator and its exercise.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "result.json")
        command = [sys.executable, "-m", "kuiper", "race", model, "--result", str(path)]
        try:
            done = subprocess.run(command, env=python_environment(), timeout=seconds, stderr=subprocess.PIPE, text=True)
            ended = f"the process died (exit code {done.returncode})"
        except subprocess.TimeoutExpired:
            done, ended = None, f"nothing within {seconds:.0f} seconds"
        if path.is_file():
            return _result(json.loads(path.read_text(encoding="utf-8")))
        if done is not None and done.returncode == 1 and done.stderr:
            raise CourseError("race", "a result", done.stderr.strip().splitlines()[-1])
        place = path.with_suffix(".place")
        where = place.read_text(encoding="utf-8").strip() if place.is_file() else "race"
        raise CourseError(where or "race", "an answer", ended)


def note_in(path: Path) -> Callable[[str], None]:
    """A function that notes where the race is, in a way that survives a crash."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def note(place: str) -> None:
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, place[:200].ljust(200).encode())

    return note


def show(result: Result, earlier: list[dict[str, Any]], console: Console) -> None:
    """Provenance, what went wrong, and the ladder."""
    yours, reference = " ".join(result.yours) or "none", " ".join(result.reference) or "none"
    console.print(f"{result.model}: yours: {yours}; reference: {reference}")
    for failure in result.failures:
        console.print(f"failed, replaced by the reference: {failure}")
    if result.divergence:
        first = result.divergence
        console.print(
            f"first divergence: {first.operator} -> {first.exercise} ({first.type}, off by {first.error:.2g})"
        )
    elif result.yours:
        console.print("all outputs agree with the reference")
    else:
        console.print("none of your layers is in it yet: kuiper progress shows where to begin")
    slowest = max(result.ladder.values())
    width = max(len(name) for name in result.ladder)
    for name, milliseconds in result.ladder.items():
        bar = "█" * max(1, round(BAR * milliseconds / slowest))
        console.print(f"  {name.ljust(width)}  {milliseconds:9.2f} ms  {bar}")
    before = [entry["ladder"]["your layers"] for entry in earlier if entry["model"] == result.model and entry["yours"]]
    if before and result.yours:
        console.print(f"your best so far: {min(before):.2f} ms, now {result.ladder['your layers']:.2f} ms")


def _result(table: dict[str, Any]) -> Result:
    divergence = table.pop("divergence")
    return Result(**table, divergence=Divergence(**divergence) if divergence else None)
