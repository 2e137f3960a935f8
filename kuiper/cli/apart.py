"""A process of its own for a student's code, and where it has got to, noted so that it survives a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError
from kuiper.course.places import python_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_LONGEST = 200  # bytes of a note


def note_in(path: Path) -> Callable[[str], None]:
    """A function that notes a place in this file; the newest note is all that the file has."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def note(place: str) -> None:
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, place[:_LONGEST].ljust(_LONGEST).encode())

    return note


def place_in(path: Path) -> str:
    """The newest note in this file; empty if there is none."""
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def result_apart(name: str, arguments: Sequence[str], path: Path, seconds: float) -> Path:
    """The file ``path`` that ``kuiper NAME`` has written in a process of its own: a layer may crash, or never return.

    Raises
    ------
    CourseError
        If there is none; the message names the operator and its exercise.
    """
    command = [sys.executable, "-m", "kuiper", name, *arguments, "--result", str(path)]
    try:
        done = subprocess.run(command, env=python_environment(), timeout=seconds, stderr=subprocess.PIPE, text=True)
        ended = f"the process died (exit code {done.returncode})"
    except subprocess.TimeoutExpired:
        done, ended = None, f"nothing within {seconds:.0f} seconds"
    if path.is_file():
        return path
    if done is not None and done.returncode == 1 and done.stderr:
        raise CourseError(name, "a result", done.stderr.strip().splitlines()[-1])
    raise CourseError(place_in(path.with_suffix(".place")) or name, "an answer", ended)
