"""Show a hint for an exercise: the first time the first rung of the ladder, then the next one."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from rich.console import Console

from kuiper.course.hints import rung
from kuiper.course.manifest import read_syllabus
from kuiper.course.places import root_here, state_folder

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="an exercise (3.4)")
    parser.add_argument(
        "-l", "--level", type=int, metavar="N", help="this rung (default: the one after the last shown)"
    )


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    exercise = syllabus.exercise(arguments.id)
    path = state_folder(syllabus.root) / "hints.json"
    shown: dict[str, int] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    last_hint = len(exercise.hints)
    level = arguments.level or min(shown.get(exercise.id, 0) + 1, last_hint)
    text = rung(exercise, level)
    console = Console(highlight=False, markup=False)
    console.print(f"{exercise.label}, hint {level} of {last_hint + 1}")
    console.print(text)
    if level == last_hint:
        console.print(f"(the last rung is the reference itself: kuiper hint {exercise.id} --level {last_hint + 1})")
    shown[exercise.id] = max(level, shown.get(exercise.id, 0))
    beside = path.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(shown), encoding="utf-8")
    os.replace(beside, path)
    return 0
