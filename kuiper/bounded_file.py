"""Files from elsewhere: read whole if they are regular files of a bounded size. And JSON that says one thing only."""

from __future__ import annotations

import json
import os
import reprlib
import stat
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from kuiper.errors import KuiperError

Path = str | os.PathLike[str]

MAX_TEXT = 16 * 2**20
"""Bytes of a file that is read whole."""

DEEPEST_JSON = 40
"""Lists and objects in one another."""


def obstacle(path: Path) -> str:
    """What keeps a path from being a file that can be read to its end; empty if nothing does.

    A pipe or a device could keep a reader waiting forever, or never end.

    >>> obstacle(os.devnull), obstacle(os.curdir), obstacle(__file__)
    ('a special file', 'a directory', '')
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "nothing there"
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        return str(error)
    if stat.S_ISREG(mode):
        return ""
    return "a directory" if stat.S_ISDIR(mode) else "a special file"


def read_text(path: Path, kind: type[KuiperError], expected: str, *, most: int | None = None) -> str:
    """The text of a file in UTF-8, with or without a byte order mark; ``expected`` says in errors what it should be.

    Raises
    ------
    kind
        If it is no regular file, cannot be read, is larger than ``most`` bytes (MAX_TEXT if that is None) or
        is no UTF-8.
    """
    where, got, most = os.fspath(path), obstacle(path), MAX_TEXT if most is None else most
    if got:
        raise kind(where, expected, got)
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise kind(where, expected, error) from error
    if len(data) > most:
        raise kind(where, f"{expected} of at most {most} bytes", "more")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise kind(where, f"{expected}, in UTF-8", f"the byte 0x{data[error.start]:02x} at {error.start}") from error


def read_json(path: Path, kind: type[KuiperError], expected: str, *, finite: bool = True) -> Any:
    """What the JSON in a file says; ``finite`` as of ``parse_json``.

    Raises
    ------
    kind
        As ``read_text`` does, and if it is not what ``parse_json`` reads.
    """
    text = read_text(path, kind, expected)
    try:
        return parse_json(text, finite=finite)
    except ValueError as error:
        raise kind(os.fspath(path), expected, str(error)) from error


def parse_json(text: str | bytes, *, finite: bool = True) -> Any:
    """The value of a JSON text; ``finite=False`` takes NaN and Infinity too, which Python writes.

    >>> parse_json('{"size": [1, 2.5]}')
    {'size': [1, 2.5]}

    Raises
    ------
    ValueError
        For anything that is not JSON, NaN and Infinity among it, for a key that an object has twice, for a number of
        thousands of digits, and for more than DEEPEST_JSON lists and objects in one another.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse if finite else None)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    level = [value]
    for _ in range(DEEPEST_JSON):
        level = [item for part in level for item in _items(part) if isinstance(item, (list, dict))]
        if not level:
            return value
    raise ValueError(_TOO_DEEP)


_TOO_DEEP = f"more than {DEEPEST_JSON} lists and objects in one another"


def _items(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {reprlib.repr(twice)} twice")
    return found


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word}, which JSON does not have")
