"""A process of its own for a student's code, and where it has got to, noted so that it survives a crash."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.cli.terminal import open_console
from kuiper.course.errors import CommandError, ToldError
from kuiper.course.in_place import command_here
from kuiper.course.phrases import phrase
from kuiper.course.places import python_environment
from kuiper.course.processes import end_tree
from kuiper.language import _
from kuiper.machine.processes import has_processes
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LONGEST = 200  # bytes of a note
LOOKS = 0.2  # seconds between two looks at the note
TOLD_EVERY = 10.0  # seconds; where lines stay, not each place is worth one


def note_in(path: Path) -> Callable[[str], None]:
    """A function that notes a place in this file; the newest note is all that the file has."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def note(place: str) -> None:
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, place.encode()[:_LONGEST].ljust(_LONGEST))

    return note


def place_in(path: Path) -> str:
    """The newest note in this file; empty if there is none."""
    return path.read_text(encoding="utf-8", errors="ignore").strip() if path.is_file() else ""


def result_apart(
    name: str, arguments: Sequence[str], path: Path, seconds: float, variables: Mapping[str, str] | None = None
) -> Path:
    """The file ``path`` that ``kuiper NAME`` has written in a process of its own: a layer may crash, or never return.

    Where it has got to is shown meanwhile. ``variables`` are for its environment.

    Raises
    ------
    CourseError
        If there is none; the message names the operator and its exercise.
    """
    words = [name, *arguments, "--result", str(path)]
    if not has_processes():
        return _result_here(name, words, path, dict(variables or {}))
    command = [sys.executable, "-m", "kuiper", *words]
    env = python_environment() | dict(variables or {})
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            said = _watched(process, name, path.with_suffix(".place"), seconds)
        finally:
            if process.poll() is None:
                end_tree(process)
    if path.is_file():
        return path
    if process.returncode == 1 and said:
        raise _told(name, said)
    ended = (
        phrase("nothing within {seconds} seconds", seconds=f"{seconds:.0f}")
        if said is None
        else phrase("the process died (exit code {code})", code=process.returncode)
    )
    raise CommandError(place_in(path.with_suffix(".place")) or name, phrase("an answer"), ended)


def _result_here(name: str, words: Sequence[str], path: Path, variables: Mapping[str, str]) -> Path:
    """The same in this process: what may crash takes it along."""
    code, said = command_here(["kuiper", *words], Path.cwd(), variables)
    if not path.is_file():
        raise (
            _told(name, said)
            if said.strip()
            else CommandError(name, phrase("a result"), phrase("exit code {code}", code=code))
        )
    return path


def _told(name: str, said: str) -> ToldError:
    """The error that ``kuiper NAME`` has ended with, by what it wrote to stderr."""
    return ToldError(name, "a result", said.strip().splitlines()[-1].removeprefix(f"kuiper {name}: "))


def _watched(process: subprocess.Popen[bytes], name: str, note: Path, seconds: float) -> str | None:
    """What a process has written to stderr until its end; None if it has not ended in time. Its place is shown.

    On a terminal one line is rewritten; elsewhere there is a line now and then.
    """
    console, began = open_console(error=True), time.monotonic()
    told = 0.0
    with console.status(name) as status:
        while (waited := time.monotonic() - began) < seconds:
            try:
                return process.communicate(timeout=LOOKS)[1].decode("utf-8", "replace").strip()
            except subprocess.TimeoutExpired:
                place = printable(place_in(note)) or _("begins")
                line = f"{name}: {place} ({waited:.0f} s)"
                status.update(line)
            if not console.is_terminal and waited - told > TOLD_EVERY:
                told = waited
                console.print(line)
    return None
