"""The state of many texts that go through a graph together: their keys and values lie in pages of one pool.

    rows of a step    a4  a5  a6 | c0 | d9        three more tokens of text a, one of c, one of d, in one call
    positions          4   5   6    0    9        where each token is in its text
    texts              0   0   0    1    2        which row of the tables is its text's
    tables           [[7, 2], [5, .], [7, 1]]     page of the positions 0 to 3, of 4 to 7 ... (page_size 4)
    chosen             2   3   4                  rows whose outputs are wanted: of the last token of each text

Here texts a and d share page 7: they begin with the same tokens. A row in no text has -1 in ``texts``: it pads a step.
Every stateful operator has arrays whose first axis counts pages. What the numbers are, the caller writes into
``integers`` before each call; ``page_pool.py`` says which pages are free.

Source: W. Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention", 2023.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.graph.state import State

if TYPE_CHECKING:
    from kuiper.graph.state import Paging


class PagedState(State):
    """The memory of a pool of pages, and what a step does with it.

    Parameters
    ----------
    paging : sizes; ``paging.chosen`` may change from step to step

    Examples
    --------
    >>> from kuiper.graph.state import Paging
    >>> state = PagedState(Paging(page_size=16, pages=3, pages_per_text=2, texts=2, rows=8, chosen=1))
    >>> state.max_length, state.integers["tables"].shape
    (32, (2, 2))
    """

    def __init__(self, paging: Paging) -> None:
        super().__init__(paging.pages_per_text * paging.page_size)
        self.paging: Paging = paging
        self.integers = {
            "positions": np.zeros(paging.rows, np.int64),
            "texts": np.full(paging.rows, -1, np.int64),
            "tables": np.zeros((paging.texts, paging.pages_per_text), np.int64),
            "chosen": np.zeros(paging.rows, np.int64),
        }

    def copy_page(self, source: int, target: int) -> None:
        """Give page ``target`` the contents of page ``source``, for all operators."""
        for array in self._arrays.values():
            array[target] = array[source]
