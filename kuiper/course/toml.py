"""TOML files, with the error that the classroom reports."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

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
        If it is not TOML; the message gives line and column.
    """
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CourseError(str(path), "a TOML file", str(error)) from error
    return table
