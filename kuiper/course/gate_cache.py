"""What the gates' test runs have shown, kept for as long as nothing that they depend on changes."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.builder import compile_flags
from kuiper.course.places import folder
from kuiper.course.state_file import as_table, read_state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kuiper.course.manifest import Exercise, Syllabus

CODE = (".py", ".pyx", ".pxd", ".param")


def key(syllabus: Syllabus, exercise: Exercise) -> str:
    """A hash of the exercise, of what it stands on, of its tests and bugs, of kuiper, and of the tools."""
    digest = hashlib.sha256(repr((sys.version, np.__version__, compile_flags("safe"), _package())).encode())
    course = exercise.course
    files = [course / "course.toml", exercise.solution_file, exercise.bugs_file]
    files += [part.solution_file for part in syllabus.needed_by(exercise)]
    files += [path for path in course.glob("*.py") if path.name not in ("adapters.py", "engine.py")]
    files += [path for path in (course / "data").rglob("*") if path.is_file()]
    digest.update(_contents(files))
    return digest.hexdigest()[:24]


def recall(syllabus: Syllabus, exercise: Exercise) -> dict[str, Any] | None:
    """What was kept for an exercise as it is now; None if nothing, or if KUIPER_FRESH asks for new runs."""
    path = _path(syllabus, exercise)
    if os.environ.get("KUIPER_FRESH") or not path.is_file():
        return None
    entry = as_table(read_state(path))
    return entry if entry.get("key") == key(syllabus, exercise) else None


def keep(syllabus: Syllabus, exercise: Exercise, **parts: Any) -> None:
    """Store the results of an exercise's runs; the ones before are forgotten."""
    _path(syllabus, exercise).write_text(
        json.dumps({"key": key(syllabus, exercise), **parts}, default=asdict), encoding="utf-8"
    )


def _path(syllabus: Syllabus, exercise: Exercise) -> Path:
    return folder(syllabus.root, "gates") / f"{exercise.id}.json"


@cache
def _package() -> str:
    """A hash of this package's sources: tests compare with the engine, and run on this machinery."""
    package = Path(__file__).resolve().parents[1]
    return hashlib.sha256(_contents(path for path in package.rglob("*") if path.suffix in CODE)).hexdigest()


def _contents(files: Iterable[Path]) -> bytes:
    digest = hashlib.sha256()
    for path in sorted(set(files)):
        digest.update(path.name.encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.digest()
