"""How a report fits the terminal: what is folded, and where. Code, paths and commands stay whole, to be copied."""

from __future__ import annotations

import re
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from kuiper.course.grids import MAX_COLUMNS, MAX_ROWS, grid, inline
from kuiper.course.phrases import recognised
from kuiper.language import _, columns, noop, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from kuiper.course.observation import Raised

NARROWEST = 60
BODY = "    "  # stands before each line of a failure
DEEPER = "  "  # stands before what goes on, in a next line
PLACE = re.compile(r"(.+?:\d+): (.*)", re.DOTALL)
UNSEEN = {
    "value: expected a plain value (numbers, strings, arrays, lists, dicts ...), got {type}": noop(
        "an object of type {type}, and not numbers, strings, arrays, lists or dicts"
    ),
    "value: expected an array of numbers, got dtype {type}": noop("an array of dtype {type}, and not of numbers"),
    "value: expected at most {count} levels of nesting, got more": noop("more than {count} levels of nesting"),
    "value: expected at most {count} parts, got more": noop("a value of more than {count} parts"),
}
"""What kuiper says, in English, of an answer that cannot cross to the test: nobody has raised it."""


def screen() -> int:
    """The columns of the terminal; 80 where there is none."""
    return max(get_terminal_size().columns, NARROWEST)


def body_width() -> int:
    """The columns that a failure's own lines have."""
    return screen() - len(BODY)


def folded(text: str, width: int = 0, first: str = "", rest: str | None = None) -> list[str]:
    """A sentence in lines that fit the terminal; those behind the first one begin a little deeper."""
    return wrapped(text, width or screen(), first, first + DEEPER if rest is None else rest) or [first.rstrip()]


def with_place(line: str, place: str) -> list[str]:
    """A line that ends with a place in a file; where both are too wide, the place has a line of its own.

    >>> with_place("next: 1.1 offsets and strides (20 minutes), offsets.py:57", "offsets.py:57")
    ['next: 1.1 offsets and strides (20 minutes), offsets.py:57']
    """
    if columns(line) <= screen() or not line.endswith(place):
        return [line]
    return [line.removesuffix(place).rstrip(), DEEPER + place]


def packed(parts: Sequence[str], width: int) -> list[str]:
    """Short remarks, as many on a line as fit; none is broken."""
    lines: list[str] = []
    for part in parts:
        longer = _("; ").join([*lines[-1:], part])
        if lines and columns(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def code_lines(text: str, width: int, rest: str = BODY, most: int = 2) -> list[str]:
    """A call or a value in a few lines, broken at spaces where there are some; no sign is lost but at the end.

    >>> code_lines("f([1, 2], [3, 4])", 10)
    ['f([1, 2],', '    [3 ...']
    """
    lines: list[str] = []
    line = ""
    while text:
        cut = _fitting(text, width - columns(line))
        if cut == len(text):
            return [*lines, line + text]
        if len(lines) == most - 1:
            cut = _fitting(text, width - columns(line) - len(" ..."))
            return [*lines, f"{line}{text[:cut]} ..."]
        space = text.rfind(" ", 0, cut + 1)
        cut = space if space > cut // 2 else cut
        lines.append(line + text[:cut])
        line, text = rest, text[cut:].removeprefix(" ")
    return lines


def _fitting(text: str, width: int) -> int:
    """How many signs of a text fit so many columns."""
    taken = 0
    for count, sign in enumerate(text):
        taken += columns(sign)
        if taken > width:
            return max(count, 1)
    return len(text)


def value_lines(message: str, value: Any, width: int, most: int = 2) -> list[str]:
    """``expected {value}``, in the student's language; a long value goes on below its beginning."""
    text = message.format(value=inline(value))
    return code_lines(text, width, " " * columns(message.partition("{value}")[0]), most)


def drawn(arrays: Mapping[str, np.ndarray], most: int, width: int) -> list[str]:
    """Arrays of a call in so many lines; those for which there is no room are told by their shape."""
    pictures = [_drawn(name, array, min(most, MAX_ROWS), width) for name, array in arrays.items()]
    if sum(map(len, pictures)) <= most:
        return [line for picture in pictures for line in picture]
    lines: list[str] = []
    left = dict(arrays)
    for name, picture in zip(arrays, pictures, strict=True):
        if len(lines) + len(picture) > most - 1:
            break
        lines += picture
        del left[name]
    shapes = [_("{array}: shape {shape}").format(array=name, shape=array.shape) for name, array in left.items()]
    return [*lines, *code_lines(DEEPER + _("; ").join(shapes), width, most=1)][:most]


def _drawn(name: str, array: np.ndarray, rows: int, width: int) -> list[str]:
    """An array, or its first plane, as far as it has room."""
    plane = f"[{', '.join('0' * (array.ndim - 2))}]" if array.ndim > 2 else ""
    first = f"{DEEPER}{name}{plane} = "
    height, length = array.shape[-2:] if array.ndim > 1 else (1, *array.shape)
    shape, lines = "", [""]
    for count in range(MAX_COLUMNS, 0, -1):
        lines = grid(array, size=(max(rows, 1), count))
        is_whole = array.ndim == 2 and height <= max(rows, 1) and length <= count
        shape = "" if is_whole else _("{array}  shape {shape}").format(array="", shape=array.shape)
        if columns(first) + max(columns(lines[0]) + columns(shape), *map(columns, lines)) <= width:
            break
    return [f"{first}{lines[0]}{shape}", *(f"{' ' * columns(first)}{line}" for line in lines[1:])]


def raised_lines(raised: Raised, most: int, width: int) -> list[str]:
    """What was raised, and the student's line that did so: on one line if that fits, else the place stands below.

    An answer that no test can look at is told as an answer.
    """
    unseen = recognised(raised.message, UNSEEN) if raised.type == "CourseError" else ""
    if template := UNSEEN.get(getattr(unseen, "template", "")):
        what = _(template).format(**getattr(unseen, "fields", {}))
        return folded(_("got      {value}").format(value=what), width)[:most]
    words = _("raised   {error}").format(error=raised.words)
    whole = _("{error}   at {place}").format(error=words, place=raised.place) if raised.place else words
    if columns(whole) <= width and len(whole.splitlines()) == 1:
        return [whole]
    place = place_lines(DEEPER + _("at {place}"), raised.place, width) if raised.place else []
    lines = [part for line in words.splitlines() for part in folded(line, width)]
    return [*lines[: max(most - len(place), 1)], *place]


def place_lines(message: str, place: str, width: int) -> list[str]:
    """File, line and code; a long line of code stands below, as it is, so that it can be found."""
    line, found = message.format(place=place), PLACE.fullmatch(place)
    if columns(line) <= width or found is None:
        return [line]
    return [message.format(place=f"{found[1]}:"), BODY + found[2]]
