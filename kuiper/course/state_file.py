"""What the classroom keeps in ``.kuiper/``, which several processes may read and write at the same time.

JSON that it remembers is read if it can be, and else it is as if nothing had been there.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from kuiper.bounded_file import read_json
from kuiper.course.errors import CourseError

if TYPE_CHECKING:
    from pathlib import Path


def read_state(path: Path) -> Any:
    """The value in a file; None if there is no file, or none that ``write_state`` could have written."""
    try:
        return read_json(path, CourseError, "JSON", finite=False)
    except CourseError:
        return None


def as_table(value: Any) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def write_state(path: Path, value: object) -> None:
    """Put a value there."""
    _write(path, json.dumps(value, indent=1))


def keep_text(path: Path, text: str) -> None:
    """Let a file have this text; one that has it already is left alone."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        _write(path, text)


def _write(path: Path, text: str) -> None:
    """Who reads at the same time finds the text before or the new one, never half of it."""
    beside = path.with_suffix(f".{os.getpid()}")
    beside.write_text(text, encoding="utf-8", newline="\n")
    os.replace(beside, path)
