"""Exercise 6.3: common beginnings.

Many requests begin alike: with the same instructions, or with the conversation so far. The keys and values of a token depend on
the tokens before it, and on nothing else. So a request whose first tokens were read for another one need not read them again:
it takes the pages (exercise 6.2) that hold them, as they are.

    a   [once upon] [a time a] [king]               page_size 2, words as tokens
         page 4      page 1     page 6
    b   [once upon] [a time a] [queen lived]        finds the pages 4 and 1, and reads from "queen" on
    c   [upon once] [a time a] ...                  finds nothing: "a time a" stands behind something else

A page counts only if it is full, and only with all tokens up to its end. The cache is one more user of each page that it keeps, so
a page stays when its text has ended. That costs nothing while there are enough pages. When there are too few, those go that
nobody has used for the longest time; but none that a text is using.

    least recently used  [ ... 5 ... 2 ... 6 ... 1 ... 4 ]  most recently used
                                     text a has been found just now: its page 4 counts as used later than its page 1

Why the beginning of a text counts as used last: page 1 can be found only behind page 4. If page 4 went first, page 1 would fill
memory, and nobody could find it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Pool(Protocol):
    """What this exercise needs of a pool: the one of 6.2 has it."""

    page_size: int

    @property
    def available(self) -> int:
        """How many pages are free."""

    def share(self, page: int) -> None:
        """One more user of a page that is in use."""

    def give_back(self, page: int) -> None:
        """One user less; when the last one goes, the page is free."""

    def references(self, page: int) -> int:
        """How many users a page has."""


class PrefixCache:
    """The full pages of texts, to be found by their tokens.

    Here is a pool that says what it is asked for:

    >>> from types import SimpleNamespace
    >>> cache = PrefixCache(SimpleNamespace(page_size=2, share=lambda page: print("share", page)))
    >>> cache.keep([3, 1, 4], [7, 5])       # three tokens: page 7 is full, page 5 is not
    share 7
    >>> cache.find([3, 1, 9, 9])
    share 7
    [7]
    """

    def __init__(self, pool: Pool) -> None:
        """A cache without pages."""
        self.pool = pool
        # BEGIN SOLUTION
        self._pages: dict[tuple[int, ...], int] = {}  # by all tokens up to its end; the least recently used one first
        # END SOLUTION

    def keep(self, tokens: Sequence[int], pages: Sequence[int]) -> None:
        """Let the full pages of a text be found.

        The cache becomes one more user of each page that it keeps. Where a page is kept already for the same tokens, that
        one stays, and the new one is not kept. All pages of this text count as used just now, the first one last.

        Parameters
        ----------
        tokens : those whose keys and values lie in the pages, from the beginning of the text on
        pages : of the text, in the order of the positions; the last one may be partly filled
        """
        # BEGIN SOLUTION
        size = self.pool.page_size
        for number in reversed(range(len(tokens) // size)):
            key = tuple(tokens[: (number + 1) * size])
            if key not in self._pages:
                self.pool.share(pages[number])
            self._pages[key] = self._pages.pop(key, pages[number])
        # END SOLUTION

    def find(self, tokens: Sequence[int]) -> list[int]:
        """The pages that hold the beginning of these tokens, as many as are kept without a gap.

        At least one token is left over: a prompt whose tokens were all found would give no scores for the next one. So
        of 8 tokens at most one page of 4 is found.

        The caller becomes one more user of each page that is returned. They count as used just now, the first one last.
        """
        # BEGIN SOLUTION
        size, found = self.pool.page_size, []
        for end in range(size, len(tokens), size):
            key = tuple(tokens[:end])
            if key not in self._pages:
                break
            found.append(key)
        for key in reversed(found):
            self.pool.share(self._pages[key])
            self._pages[key] = self._pages.pop(key)
        return [self._pages[key] for key in found]
        # END SOLUTION

    def make_room(self, pages: int) -> bool:
        """Give pages back until as many are available, or until none is left that could go; whether there are enough now.

        The least recently used one goes first. A page that a text uses, too, stays: it would not become free.
        """
        # BEGIN SOLUTION
        for key, page in list(self._pages.items()):
            if self.pool.available >= pages:
                break
            if self.pool.references(page) == 1:
                del self._pages[key]
                self.pool.give_back(page)
        return self.pool.available >= pages
        # END SOLUTION
