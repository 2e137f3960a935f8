"""Run a real network on your own layers: what is yours, where it first goes wrong, and how fast it is."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.bounded_file import read_json
from kuiper.cli.terminal import open_console
from kuiper.course.engine_race import course_race, engine_contestant, engine_race
from kuiper.course.errors import CourseError
from kuiper.course.machine import this_machine
from kuiper.course.manifest import read_syllabus
from kuiper.course.pictures.race_card import race_card
from kuiper.course.places import python_environment, root_here
from kuiper.course.race import Divergence, Result, contestant, own_time, race, remember
from kuiper.course.selection import Selection
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from kuiper.course.pictures.picture import Picture

BAR = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = (
        "resnet20, expressions, or the path of a .param file (default: resnet20); or, for what your own engine can do "
        "behind courses 1 to 5: tensor, linear, convolution, formulas, photo"
    )
    parser.add_argument("model", nargs="?", default="resnet20", metavar="MODEL", help=words)
    words = "whose engine runs your layers: kuiper's, or that of the last exercise (default: kuiper)"
    parser.add_argument("--engine", choices=("kuiper", "mine"), default="kuiper", help=words)
    parser.add_argument("--seconds", type=float, default=300.0, help="give up after this long (default: 300)")
    words = "write the times as a picture, to keep or to share"
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help=words)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)  # set for the process that runs your code


def execute(arguments: argparse.Namespace) -> int:
    if arguments.result is not None:
        return run_here(arguments.model, arguments.engine, arguments.result)
    if arguments.picture is not None and arguments.picture.suffix != ".svg":
        raise CourseError(str(arguments.picture), "a name that ends in .svg", arguments.picture.suffix or "no ending")
    root = root_here()
    result = run_apart(arguments.model, arguments.engine, arguments.seconds)
    history = remember(root, result)
    console = open_console(soft_wrap=True)
    show(result, history[:-1], console)
    if arguments.picture is not None:
        draw(result).save(arguments.picture)
        console.print(f"written: {arguments.picture}")
    return 1 if result.divergence or result.failures else 0


def run_here(model: str, engine: str, path: Path) -> int:
    """Run the race in this process and write its result; the place of the moment stands in a file beside it."""
    selection, note = Selection(read_syllabus(root_here())), note_in(path.with_suffix(".place"))
    if model in selection.syllabus.races():
        result = course_race(selection, selection.syllabus.races()[model], note)
    elif engine == "mine":
        param, arrays = engine_contestant(model)
        result = engine_race(selection, model, param, arrays, note)
    else:
        load, inputs = contestant(model)
        result = race(selection, model, load, inputs, note)
    path.write_text(json.dumps(asdict(result)), encoding="utf-8")
    return 0


def run_apart(model: str, engine: str, seconds: float) -> Result:
    """Run the race in a process of its own: a layer may crash, or never return.

    Raises
    ------
    CourseError
        If it does; the message names the operator and its exercise.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "result.json")
        command = [sys.executable, "-m", "kuiper", "race", model, "--engine", engine, "--result", str(path)]
        try:
            done = subprocess.run(command, env=python_environment(), timeout=seconds, stderr=subprocess.PIPE, text=True)
            ended = f"the process died (exit code {done.returncode})"
        except subprocess.TimeoutExpired:
            done, ended = None, f"nothing within {seconds:.0f} seconds"
        if path.is_file():
            return _result(read_json(path, CourseError, "a result in JSON", finite=False))
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
    if result.answer:
        console.print(printable(result.answer))
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
        console.print("nothing of yours is in it yet: kuiper progress shows where to begin")
    slowest = max(result.ladder.values())
    width = max(len(name) for name in result.ladder)
    for name, milliseconds in result.ladder.items():
        bar = "█" * max(1, round(BAR * milliseconds / slowest))
        console.print(f"  {name.ljust(width)}  {milliseconds:9.2f} ms  {bar}")
    console.print(f"  on {this_machine()}")
    before = [own_time(entry["ladder"]) for entry in earlier if entry["model"] == result.model and entry["yours"]]
    now = own_time(result.ladder)
    if before and now is not None and result.yours:
        console.print(f"your best so far: {min(before):.2f} ms, now {now:.2f} ms")


def draw(result: Result) -> Picture:
    """The ladder as a picture, with the machine below it."""
    return race_card(result.ladder, f"{result.model}: milliseconds for one run", this_machine())


def _result(table: dict[str, Any]) -> Result:
    """The result that the other process wrote, which runs a student's code."""
    try:
        divergence = table.pop("divergence")
        result = Result(**table, divergence=Divergence(**divergence) if divergence else None)
        times = [float(milliseconds) for milliseconds in result.ladder.values()]
        if (
            not times
            or not all(0 <= time < inf for time in times)
            or (result.yours and not result.failures and own_time(result.ladder) is None)
        ):
            raise ValueError("a ladder without times")
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise CourseError("race", "the result of a race", f"another: {error}") from error
    return result
