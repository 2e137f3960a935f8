"""TOML files, with the error that the classroom reports."""

from __future__ import annotations

import reprlib
import sys
from typing import TYPE_CHECKING, Any

from kuiper.bounded_file import read_text
from kuiper.course.errors import CourseError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pathlib import Path


def read_toml(path: Path) -> dict[str, Any]:
    """The table in a file.

    Raises
    ------
    CourseError
        If it is not a text of TOML; the message gives line and column.
    """
    text = read_text(path, CourseError, "a TOML file")
    try:
        table: dict[str, Any] = tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:  # ValueError: also a date of month 13, or a number of 5000 digits
        raise CourseError(str(path), "a TOML file", str(error)) from error
    return table


def tables(table: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    """The tables that a file has under ``[[key]]``; none if it has no such key.

    Raises
    ------
    CourseError
        If something else stands there.
    """
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise CourseError(where, f"tables under [[{key}]]", reprlib.repr(found))
    return found
