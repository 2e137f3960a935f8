"""Pages that texts share: the table of each text, and the pool that the tables point into, state by state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError
from kuiper.course.picture_words import words
from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, box, label, text_width
from kuiper.course.pictures.steps import Steps, steps

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MAX_PAGES = 16
_CELL, _GAP, _ACROSS = 17.0, 11.0, 310.0  # pixels: of a position, between pages, and of a row of pages
_TABLE, _POOL, _ENTRY = 27.0, 54.0, 30.0  # the height of a text's row, and of a row of pages; an entry of a table
_SHARED = 8  # the hue of what several texts use


@dataclass(frozen=True)
class Pages:
    """Which texts have which pages at one moment.

    Parameters
    ----------
    tables : for each text its pages in order, and how many tokens it has
    contents : for each page that was written to the tokens in it, as short words
    kept : pages of no text that can still be found by their tokens
    marked : pages that stand out
    """

    tables: Mapping[str, tuple[Sequence[int], int]]
    contents: Mapping[int, Sequence[str]] = field(default_factory=dict)
    kept: Collection[int] = ()
    marked: Collection[int] = ()

    def users(self, page: int) -> list[str]:
        """The texts that have a page."""
        return [name for name, (pages, _) in self.tables.items() if page in pages]


def page_steps(
    states: Sequence[Pages], captions: Sequence[str], *, pages: int, page_size: int, caption: str = ""
) -> Steps:
    """The tables of texts and the pool of pages, one state after the other.

    A page has the colour of its text. What several texts share is grey, and all names stand below each page.

    Parameters
    ----------
    states : which texts have which pages
    captions : what happens in each
    pages, page_size : how many pages the pool has, and positions of each
    caption : what all pictures show

    >>> states = [Pages({"a": ([2], 1)}, {2: ["x"]}), Pages({"a": ([2], 1), "b": ([2], 1)}, {2: ["x"]})]
    >>> page_steps(states, ["one text", "two texts"], pages=3, page_size=4)
    <2 pictures>

    Raises
    ------
    CourseError
        If there are too many pages to draw, or a page is not one of the pool's.
    """
    if not 1 <= pages <= MAX_PAGES or page_size * _CELL > _ACROSS:
        expected = f"1 to {MAX_PAGES} pages of at most {int(_ACROSS / _CELL)} positions"
        raise CourseError("page_steps", expected, f"{pages} of {page_size}")
    used = {page for state in states for table, _ in state.tables.values() for page in table}
    if not used <= set(range(pages)):
        raise CourseError("page_steps", f"pages 0 to {pages - 1}", sorted(used - set(range(pages))))
    names = list(dict.fromkeys(name for state in states for name in state.tables))
    frames = [_frame(state, names, pages, page_size) for state in states]
    width = max(frame.width for frame in frames)
    return steps([Picture(width, frame.height, frame.body) for frame in frames], captions, caption)


def _frame(state: Pages, names: list[str], pages: int, page_size: int) -> Picture:
    """One row for each text that there ever is, and below them the pool."""
    left = max([text_width(name) for name in names] or [0.0]) + 14
    parts, y, widest = [], 0.0, 0.0
    for name in names:
        table, length = state.tables.get(name, ((), None))
        parts.append(label(0, y + 11, name, anchor="start", bold=True))
        for at, page in enumerate(table):
            parts.append(box(left + _ENTRY * at, y, _ENTRY, 22, _colour(state, names, page), page in state.marked))
            parts.append(label(left + _ENTRY * (at + 0.5), y + 11, page))
        said = words("not there") if length is None else words("1 token") if length == 1 else _tokens(length)
        end = left + _ENTRY * len(table) + (8 if table else 0)
        parts.append(label(end, y + 11, said, "kp-faint", "start"))
        y, widest = y + _TABLE, max(widest, end + text_width(said))
    top, size = y + 8, page_size * _CELL
    across = max(1, int((_ACROSS + _GAP) // (size + _GAP)))
    for page in range(pages):
        x, y = (page % across) * (size + _GAP), top + (page // across) * _POOL
        parts.append(_page(state, names, page, page_size, x, y))
    width = max(widest, min(pages, across) * (size + _GAP) - _GAP)
    return Picture(width, top + -(-pages // across) * _POOL, "".join(parts))


def _tokens(count: int) -> str:
    return words("{count} tokens", count=count)


def _page(state: Pages, names: list[str], page: int, page_size: int, x: float, y: float) -> str:
    """A page of the pool: its number and what is in it; below, the texts that have it."""
    users, tokens = state.users(page), state.contents.get(page, ())
    said = " ".join(users) or (words("kept") if page in state.kept else words("free"))
    size, colour = page_size * _CELL, _colour(state, names, page)
    parts = [label(x, y + 8, page, "kp-faint", "start"), label(x + size, y + 8, said, "kp-faint", "end")]
    for offset in range(page_size):
        is_filled = offset < len(tokens) and bool(users or page in state.kept)
        parts.append(box(x + _CELL * offset, y + 18, _CELL, 24, colour if is_filled else ""))
        if is_filled:
            parts.append(label(x + _CELL * (offset + 0.5), y + 30, tokens[offset], quoted=True))
    if page in state.marked:
        parts.append(
            f'<rect class="kp-line" x="{x:.1f}" y="{y + 18:.1f}" width="{size:.1f}" height="24" stroke-width="3"/>'
        )
    return "".join(parts)


def _colour(state: Pages, names: list[str], page: int) -> str:
    users = state.users(page)
    return hue(names.index(users[0]) % _SHARED) if len(users) == 1 else hue(_SHARED) if users else ""
