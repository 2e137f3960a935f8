"""Text from files and file names, made safe for a terminal."""

from __future__ import annotations

import unicodedata

_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode's categories of what is no sign on paper: controls, formats, halves of pairs, ends of lines and pages."""

_JOINERS = "\u200c\u200d"
"""Formats that scripts (Persian, Hindi) and emoji need to be spelled; they change only the signs beside them."""


def printable(text: str, keep: str = "") -> str:
    r"""The text with an escape in place of each character that does something to a terminal instead of being shown.

    Those are control characters (ESC begins the sequences that colour, move and overwrite), ends of lines, the marks
    that turn the direction of writing around, and bytes of file names that are no text. Those in ``keep`` stay.

    >>> printable("cat\x1b[2J\n\u202egpj.exe")
    'cat\\x1b[2J\\n\\u202egpj.exe'
    >>> printable("one\ntwo\r", keep="\n")
    'one\ntwo\\r'
    """
    if text.isprintable():
        return text
    return "".join(sign if sign in keep or _is_safe(sign) else _escaped(sign) for sign in text)


def _is_safe(sign: str) -> bool:
    is_character = ord(sign) & 0xFFFE != 0xFFFE  # the last two of each plane never are, and XML forbids them
    return is_character and (unicodedata.category(sign) not in _UNSAFE or sign in _JOINERS)


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode()


def first_line(error: BaseException) -> str:
    """Type and first line of an error, for a message of one line.

    >>> first_line(KeyError("width"))
    "KeyError: 'width'"
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__
