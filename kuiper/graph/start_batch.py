"""How a batch begins: sizes that fit each other, and as many pages as were asked for or as find room in the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.graph.batch import Batch
from kuiper.graph.paged_state import PagedState
from kuiper.graph.session import execution_of_pieces
from kuiper.graph.state import Paging

if TYPE_CHECKING:
    from kuiper.graph.execution import BuiltGraph, Execution

PAGE_SIZE = 64
"""Positions of a page: attention multiplies four panels of keys together, and a beginning is shared from here on."""

PANEL = 16
"""A page has a multiple of this many positions: keys lie side by side in so many."""


def start_batch(
    graph: BuiltGraph,
    *,
    pages: int | None = None,
    memory: int | None = None,
    max_length: int = 2048,
    texts: int = 64,
    rows: int = 256,
    page_size: int = PAGE_SIZE,
    page_bits: int = 32,
) -> Batch:
    """Begin a batch: texts that go through the graph together, on pages that they share.

    Parameters
    ----------
    pages : how many pages there are
    memory : instead: bytes that they may take
    max_length : how many tokens a text can have
    texts : how many texts can be in one step
    rows : how many tokens can be in one step
    page_size : positions of a page, a multiple of 16
    page_bits : 32 for pages of floats; 8 for pages of bytes, which hold nearly four times as much, less exactly

    Returns
    -------
    The batch; its pages take memory when they are first written to.

    Raises
    ------
    GraphStateError
        If the graph has not been built, none of its operators has state, or it reads whole texts.
    ParameterError
        If a size is not as it must be, or not one page fits the memory.

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> kuiper.load(bundled("shakespeare")).start_batch(memory=1 << 20).paging.pages > 1
    True
    """
    execution, where = execution_of_pieces(graph), f"{graph.name}: start_batch"
    if page_size < 1 or page_size % PANEL:
        raise ParameterError(where, f"a page_size that is a multiple of {PANEL}", page_size)
    for name, number in {"max_length": max_length, "texts": texts, "rows": rows}.items():
        if number < 1:
            raise ParameterError(where, f"{name} of at least 1", number)
    if page_bits not in (8, 32):
        raise ParameterError(where, "page_bits of 8 or 32", page_bits)
    if (pages is None) == (memory is None):
        raise ParameterError(where, "either pages or memory", "both" if memory is not None else "neither")
    paging = Paging(page_size, 1, -(-max_length // page_size), texts, rows, 0, page_bits)
    if memory is not None:
        size = _bytes_of_page(execution, paging)
        pages = memory // size
        if pages < 1:
            raise ParameterError(where, f"memory for one page, which is {size:,} bytes", f"{memory:,}")
    assert pages is not None
    return Batch(execution, paging._replace(pages=pages), graph.name)


def _bytes_of_page(execution: Execution, paging: Paging) -> int:
    """What one page takes, by all operators."""
    state = PagedState(paging)  # its rows are in no text, so nothing is written
    execution.run((np.zeros((1, 1), np.int64),), None, state, outputs=False)
    return state.nbytes
