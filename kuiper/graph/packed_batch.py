"""Whole texts that go through a graph in one call, packed: their rows lie one behind the other, with nothing between.

    texts      [a0 a1 a2] [b0 b1] [c0]
    rows        a0 a1 a2   b0 b1   c0  .  .        padded at the end, to one of a few numbers, so that plans are few
    positions    0  1  2    0  1    0  0  0
    texts        0  0  0    1  1    2 -1 -1

Products see all rows at once, and attention the rows of each text (``kuiper.BidirectionalAttention``). So a text costs
what its own length costs, beside whomever it is, and what it gets does not depend on the others: bit by bit.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Literal

import numpy as np

from kuiper.errors import GraphStateError, ShapeError
from kuiper.graph.paged_state import PagedState
from kuiper.graph.state import Paging
from kuiper.locks import open_in_children

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.execution import BuiltGraph

    Wanted = Literal["all", "first", "last"]


class PackedBatch:
    """Runs texts through a graph whose attention sees whole texts. Threads that share it wait for their turn.

    Parameters
    ----------
    graph : a graph of tokens (1, s) that has been built and reads whole texts
    rows : how many tokens can be in one call

    Raises
    ------
    GraphStateError
        If the graph has not been built, or does not read whole texts.

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models.text.random_encoder import random_encoder
    >>> batch = PackedBatch(kuiper.load(random_encoder(seed=1)), rows=64)
    >>> batch.run([[1, 2, 3], [4]]).shape, batch.run([[1, 2, 3], [4]], "first").shape
    ((4, 24), (2, 24))
    """

    def __init__(self, graph: BuiltGraph, rows: int) -> None:
        self._execution = graph.execution
        self._where = f"texts of {graph.name}"
        if not self._execution.reads_whole_texts:
            raise GraphStateError(graph.name, "a model that reads whole texts", "one that reads them piece by piece")
        self.rows = rows
        self._paging = Paging(page_size=rows, pages=0, pages_per_text=1, texts=0, rows=rows, chosen=rows)  # no pages
        self._state = PagedState(self._paging)
        self._lock = Lock()
        open_in_children(self)

    def run(self, texts: Sequence[Sequence[int]], wanted: Wanted = "all") -> np.ndarray:
        """What the graph gives for the tokens of these texts.

        Parameters
        ----------
        texts : the tokens of each, at least one; ``rows`` together at most
        wanted : of which tokens of each text the outputs are wanted

        Returns
        -------
        The outputs (m, ...), text by text.

        Raises
        ------
        ShapeError
            If there is no text, an empty one, or too many tokens.
        """
        lengths = [len(text) for text in texts]
        if not all(lengths) or not lengths or sum(lengths) > self.rows:
            got = f"{sum(lengths)} tokens of {len(lengths)} texts" + (", one of them empty" if 0 in lengths else "")
            raise ShapeError(self._where, f"texts of at least one token, at most {self.rows} together", got)
        ends = np.cumsum(lengths)
        chosen = {"all": np.arange(ends[-1]), "first": ends - lengths, "last": ends - 1}[wanted]
        with self._lock:
            tokens = self._laid_out(texts, lengths, chosen)
            (results,) = self._execution.run((tokens[None],), None, self._state)
        return np.asarray(results)[0, : len(chosen)]

    def _laid_out(self, texts: Sequence[Sequence[int]], lengths: list[int], chosen: np.ndarray) -> np.ndarray:
        """The tokens of a call, padded, and in the state all that is to be known of their rows."""
        count, arrays = sum(lengths), self._state.integers
        tokens = np.zeros(padded(count, self.rows), np.int64)
        tokens[:count] = np.concatenate([np.asarray(text, np.int64) for text in texts])
        arrays["positions"][:count] = np.concatenate([np.arange(length) for length in lengths])
        arrays["texts"][:count] = np.repeat(np.arange(len(lengths)), lengths)
        arrays["positions"][count : len(tokens)], arrays["texts"][count : len(tokens)] = 0, -1
        room = len(tokens) if len(chosen) == count else min(padded(len(chosen), self.rows), len(tokens))
        arrays["chosen"][: len(chosen)] = chosen
        arrays["chosen"][len(chosen) : room] = 0
        self._state.paging = self._paging._replace(chosen=room)
        return tokens


def padded(count: int, most: int) -> int:
    """The number that this many rows are padded to: by an eighth at most, but for a few rows.

    >>> [padded(count, 512) for count in (1, 9, 33, 100, 129, 300, 511)]
    [8, 16, 40, 104, 144, 320, 512]
    """
    step = max(8, 1 << max(0, (count - 1).bit_length() - 4))
    return min(-(-count // step) * step, most)
