"""Which pages of a pool are free, how many texts share each, and which hold a beginning that may come again.

    free      holds nothing that anyone needs
    in use    by one text or by several, which it counts
    kept      by no text, but its tokens are known: a text that begins with them finds it; the longest unused goes first

A full page is found by its tokens and by the page before it, so by all tokens up to its end:

    begin -> [Once upon a time ...] = page 7 -> [there was a king ...] = page 2
                                             -> [a queen lived ...]    = page 5

Sources: W. Kwon et al., "PagedAttention", 2023; L. Zheng et al., "SGLang", 2024 (beginnings as a tree).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGIN = 0
"""The place in the tree of beginnings where every text starts."""


class PagePool:
    """The book-keeping of a pool of pages; their contents are elsewhere (``paged_state.py``).

    Parameters
    ----------
    pages : how many there are
    page_size : positions of each

    Examples
    --------
    >>> pool = PagePool(pages=2, page_size=4)
    >>> page = pool.take()
    >>> place = pool.keep(BEGIN, [3, 1, 4, 1], page)
    >>> pool.give_back(page)
    >>> pool.available, pool.find([3, 1, 4, 1, 5, 9]) == [(page, place)]
    (2, True)
    """

    def __init__(self, pages: int, page_size: int) -> None:
        if pages < 1 or page_size < 1:
            raise ParameterError("PagePool", "at least one page of at least one position", (pages, page_size))
        self.pages, self.page_size = pages, page_size
        self.evicted = 0
        """How many pages were kept and had to go."""
        self._free = list(range(pages - 1, -1, -1))
        self._users = [0] * pages
        self._kept: OrderedDict[int, None] = OrderedDict()  # without users, the longest unused first
        self._places: dict[tuple[int, tuple[int, ...]], tuple[int, int]] = {}  # (place, tokens) -> (page, next place)
        self._keys: dict[int, tuple[int, tuple[int, ...]]] = {}  # page -> where it stands in the tree
        self._last_place = BEGIN

    @property
    def available(self) -> int:
        """How many pages can be taken."""
        return len(self._free) + len(self._kept)

    @property
    def in_use(self) -> int:
        """How many pages belong to texts."""
        return self.pages - self.available

    def take(self) -> int:
        """A page for one user; one that is only kept is forgotten if there is no other.

        Raises
        ------
        MemoryError
            If all pages are in use.
        """
        if not self._free:
            if not self._kept:
                raise MemoryError(f"{self.pages} pages of {self.page_size} positions are in use")
            page, _ = self._kept.popitem(last=False)
            self._forget(page)
            self.evicted += 1
            self._free.append(page)
        page = self._free.pop()
        self._users[page] = 1
        return page

    def share(self, page: int) -> None:
        """One more user of a page."""
        self._kept.pop(page, None)
        self._users[page] += 1

    def give_back(self, page: int) -> None:
        """One user less; the last one leaves it free, or kept if it can be found."""
        self._users[page] -= 1
        if not self._users[page]:
            if page in self._keys:
                self._kept[page] = None
            else:
                self._free.append(page)

    def is_written_alone(self, page: int) -> bool:
        """Whether its one user may write to it: nobody else reads it, and nobody will find it."""
        return self._users[page] == 1 and page not in self._keys

    def keep(self, place: int, tokens: Sequence[int], page: int) -> int:
        """Let a full page be found: behind this place in the tree, by its tokens. Its own place is returned.

        If another page has the same tokens there, that one stays, and this one is not found.
        """
        key = (place, tuple(tokens))
        known = self._places.get(key)
        if known is not None:
            return known[1]
        self._last_place += 1
        self._places[key] = (page, self._last_place)
        self._keys[page] = key
        return self._last_place

    def find(self, tokens: Sequence[int]) -> list[tuple[int, int]]:
        """The pages, each with its place, that hold the beginning of these tokens, as far as it is known.

        They have no new user yet: see ``share``.
        """
        found: list[tuple[int, int]] = []
        place = BEGIN
        for first in range(0, len(tokens) - self.page_size + 1, self.page_size):
            entry = self._places.get((place, tuple(tokens[first : first + self.page_size])))
            if entry is None:
                break
            found.append(entry)
            place = entry[1]
        return found

    def _forget(self, page: int) -> None:
        del self._places[self._keys.pop(page)]
