"""What a user sets by text: the API key, which is in a file, and sizes of memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kuiper.bounded_file import read_text
from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from os import PathLike

LONGEST_KEY = 4096
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def read_api_key(path: str | PathLike[str] | None) -> str | None:
    """The key in a file, if there is one.

    Raises
    ------
    ParameterError
        If there is no such file, or it is not one line of letters, digits and signs.
    """
    if path is None:
        return None
    key = read_text(path, ParameterError, "a file with an API key", most=LONGEST_KEY).strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ParameterError(str(path), "an API key: one line of letters, digits and signs", "something else")
    return key


def bytes_of(text: str) -> int:
    """A size of memory in bytes.

    >>> bytes_of("512M")
    536870912

    Raises
    ------
    ParameterError
        If it is none.
    """
    found = re.fullmatch(r"([0-9]{1,15})([KMG]?)", text)
    if not found or not int(found[1]):
        raise ParameterError("memory", "a size such as 512M or 2G", repr(text))
    return int(found[1]) * _UNITS[found[2]]
