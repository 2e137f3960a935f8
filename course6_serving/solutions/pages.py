"""Exercise 6.2: pages.

The cache of exercise 5.12 takes the memory of the longest text at once, though most texts stay short. With many readers that is
too much: so keys and values of all texts lie in one pool of pages of the same size, and a text takes a page when it needs one,
as a program does in virtual memory. A table says which page holds which of its positions:

    page_size 4                 text a, 6 tokens        page     0     1     2     3     4
                                pages  [2, 0]              | a4 a5 .. .. | free |  a0 a1 a2 a3 | ...
                                                                          position 5 = page 0, offset 1

Two texts that begin alike (one question, two answers) share the pages of their beginning: the pool counts for each page how
many use it. A page that others use must not be written to: the text that wants to write takes a new page first, and what
the old one holds is copied there. That is called copy on write, and it happens to the last page of a text only: full pages
are only read.

    fork:   a  [2, 0]      page 2 and page 0          append:   a  [2, 0]      page 0 belongs to a alone now,
            b  [2, 0]      have 2 users each                    b  [2, 1]      page 1 begins as a copy of it

Here is the book-keeping only: no numbers are moved. What is to be copied, ``append`` tells its caller.
"""

from __future__ import annotations

from collections.abc import Iterable


class PagePool:
    """Which pages are free, and how many users the others have.

    >>> pool = PagePool(pages=3, page_size=4)
    >>> pool.take(), pool.take(), pool.available
    (0, 1, 1)
    >>> pool.share(1)
    >>> pool.give_back(1)
    >>> pool.references(1), pool.available
    (1, 1)
    >>> pool.give_back(1)
    >>> pool.references(1), pool.available, pool.take()
    (0, 2, 1)
    """

    def __init__(self, pages: int, page_size: int) -> None:
        """All pages, with the numbers 0 to pages - 1, are free, and the lowest number is to be taken first."""
        self.pages, self.page_size = pages, page_size
        # BEGIN SOLUTION
        self._free = list(range(pages - 1, -1, -1))
        self._users = [0] * pages
        # END SOLUTION

    def take(self) -> int:
        """The number of a free page, which has one user now.

        The page that was given back last is taken first: its memory is likely to be in the processor's cache still.

        Raises
        ------
        MemoryError
            If no page is free; the message has the word "pages".
        """
        # BEGIN SOLUTION
        if not self._free:
            raise MemoryError(f"take: all {self.pages} pages are in use")
        page = self._free.pop()
        self._users[page] = 1
        return page
        # END SOLUTION

    def share(self, page: int) -> None:
        """One more user of a page that is in use.

        Raises
        ------
        ValueError
            If the page is free; the message has the number of the page.
        """
        # BEGIN SOLUTION
        if self._users[page] == 0:
            raise ValueError(f"share: page {page} is free")
        self._users[page] += 1
        # END SOLUTION

    def give_back(self, page: int) -> None:
        """One user less; when the last one goes, the page is free.

        Raises
        ------
        ValueError
            If the page is free already; the message has the number of the page. (A page that was free twice would be
            given to two texts.)
        """
        # BEGIN SOLUTION
        if self._users[page] == 0:
            raise ValueError(f"give_back: page {page} is free")
        self._users[page] -= 1
        if self._users[page] == 0:
            self._free.append(page)
        # END SOLUTION

    def references(self, page: int) -> int:
        """How many users a page has; 0 if it is free."""
        # BEGIN SOLUTION
        return self._users[page]
        # END SOLUTION

    @property
    def available(self) -> int:
        """How many pages are free."""
        # BEGIN SOLUTION
        return len(self._free)
        # END SOLUTION


class PageTable:
    """The pages of one text, in the order of its positions, and its length: how many tokens it has.

    It has as many pages as its tokens need, and no more: the last one may be partly filled.

    >>> pool = PagePool(pages=4, page_size=2)
    >>> a = PageTable(pool)
    >>> a.append(3), a.pages, a.length
    ([], [0, 1], 3)
    >>> b = a.fork()
    >>> b.append(2), b.pages, a.pages
    ([(1, 2)], [0, 2, 3], [0, 1])
    >>> b.place(4)
    (3, 0)
    >>> a.close()
    >>> pool.references(0), pool.available
    (1, 1)
    """

    def __init__(self, pool: PagePool, pages: Iterable[int] = ()) -> None:
        """A text of a pool. It begins with these pages, which are full, and which the caller has shared for it."""
        self.pool = pool
        self.pages = list(pages)
        self.length = len(self.pages) * pool.page_size

    def append(self, count: int) -> list[tuple[int, int]]:
        """Make room for ``count`` more tokens, and move the length on.

        If the first of them comes into a page that others use, too, a new page takes its place in this table, and the old
        one is given back. After that, new pages are taken for what has no room, in the order of the positions.

        Returns
        -------
        [(old page, new page)] if one was replaced, whose contents the caller has to copy; else [].

        Raises
        ------
        MemoryError
            If fewer pages are available than are needed; the message has the word "pages". Nothing has changed then:
            the text may wait, and try again.
        """
        # BEGIN SOLUTION
        size = self.pool.page_size
        more = -(-(self.length + count) // size) - len(self.pages)
        is_shared = count > 0 and self.length % size > 0 and self.pool.references(self.pages[-1]) > 1
        if more + is_shared > self.pool.available:
            raise MemoryError(f"append: expected {more + is_shared} pages, got {self.pool.available}")
        copies = []
        if is_shared:
            old, new = self.pages[-1], self.pool.take()
            self.pool.give_back(old)
            self.pages[-1] = new
            copies.append((old, new))
        for _ in range(more):
            self.pages.append(self.pool.take())
        self.length += count
        return copies
        # END SOLUTION

    def place(self, position: int) -> tuple[int, int]:
        """Where the token of a position lies: the number of its page, and its offset there.

        Raises
        ------
        ValueError
            Unless 0 <= position < length; the message has the position.
        """
        # BEGIN SOLUTION
        if not 0 <= position < self.length:
            raise ValueError(f"place: expected a position of 0 to {self.length - 1}, got {position}")
        index, offset = divmod(position, self.pool.page_size)
        return self.pages[index], offset
        # END SOLUTION

    def fork(self) -> PageTable:
        """A second text with the same tokens, on the same pages. From now on each goes its own way."""
        # BEGIN SOLUTION
        other = PageTable(self.pool, self.pages)
        for page in self.pages:
            self.pool.share(page)
        other.length = self.length
        return other
        # END SOLUTION

    def cut(self, length: int) -> None:
        """Forget the tokens from ``length`` on. Pages that hold nothing else are given back, the last one first.

        Raises
        ------
        ValueError
            Unless 0 <= length <= the present length; the message has the number that was given. Nothing has changed
            then.
        """
        # BEGIN SOLUTION
        if not 0 <= length <= self.length:
            raise ValueError(f"cut: expected a length of 0 to {self.length}, got {length}")
        while len(self.pages) > -(-length // self.pool.page_size):
            self.pool.give_back(self.pages.pop())
        self.length = length
        # END SOLUTION

    def close(self) -> None:
        """Forget all tokens: no page belongs to the text any more."""
        # BEGIN SOLUTION
        self.cut(0)
        # END SOLUTION
