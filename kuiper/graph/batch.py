"""A batch: many texts on their way through one graph with state, a step at a time.

    batch = model.start_batch(pages=64)
    a, b = batch.begin(prompt_a), batch.begin(prompt_b)
    batch.step([Piece(a, prompt_a[a.length :]), Piece(b, prompt_b[b.length :])])     scores behind each prompt
    batch.step([Piece(a, [token]), Piece(b, [token])])                               one more token of each

A step takes any mix of pieces of prompts and single tokens. Their rows lie flat, one behind the other, and are padded
to one of a few numbers, so that a few plans serve all steps. What a text gets does not depend on the others in the
step, on how it was cut into pieces, or on whether its beginning was found in the pages of an earlier text: bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ParameterError, ShapeError
from kuiper.graph.page_pool import BEGIN, PagePool
from kuiper.graph.paged_state import PagedState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.execution import Execution
    from kuiper.graph.state import Paging


@dataclass(eq=False)
class Text:
    """A text of a batch: its tokens, and the pages that hold their keys and values. ``Batch.begin`` makes it."""

    tokens: list[int] = field(default_factory=list)
    """Those that the model has read."""
    pages: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """Of its full pages, in the tree of beginnings."""

    @property
    def length(self) -> int:
        """How many tokens the model has read."""
        return len(self.tokens)


@dataclass(frozen=True)
class Piece:
    """More tokens of a text, and of how many of the last of them the outputs are wanted."""

    text: Text
    tokens: Sequence[int]
    wanted: int = 1


class Batch:
    """What ``RuntimeGraph.start_batch`` returns. It belongs to one thread.

    Parameters
    ----------
    execution : what runs the graph
    paging : the sizes
    where : what messages call it

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> batch = kuiper.load(bundled("shakespeare")).start_batch(pages=8)
    >>> a, b = batch.begin(), batch.begin()
    >>> batch.step([Piece(a, [1, 2, 3]), Piece(b, [4])]).shape
    (2, 65)
    >>> a.length, batch.pool.in_use
    (3, 2)
    """

    def __init__(self, execution: Execution, paging: Paging, where: str) -> None:
        self.paging = paging
        self.pool = PagePool(paging.pages, paging.page_size)
        self._state = PagedState(paging)
        self._execution = execution
        self._where = f"batch of {where}"

    @property
    def max_length(self) -> int:
        """How many tokens a text can have."""
        return self._state.max_length

    @property
    def nbytes(self) -> int:
        """Bytes of all pages."""
        return self._state.nbytes

    def begin(self, tokens: Sequence[int] = ()) -> Text:
        """A new text that has read as much of the beginning of these tokens as some page still holds, but not all."""
        text = Text()
        self.catch_up(text, tokens)
        return text

    def catch_up(self, text: Text, tokens: Sequence[int]) -> None:
        """Let a text that goes on to these tokens, all of them from its beginning, have read the pages that others have
        read meanwhile; one that stands within a page stays there."""
        size = self.paging.page_size
        if text.length % size:
            return
        for page, place in self.pool.find(tokens[: max(0, len(tokens) - 1)])[len(text.pages) :]:
            self.pool.share(page)
            text.pages.append(page)
            text.places.append(place)
        text.tokens += tokens[text.length : len(text.pages) * size]

    def fork(self, text: Text) -> Text:
        """A second text that has read the same and goes its own way; until then the two share all pages."""
        for page in text.pages:
            self.pool.share(page)
        return Text(list(text.tokens), list(text.pages), list(text.places))

    def rewind(self, text: Text, length: int) -> None:
        """Let a text go back to where it had read ``length`` tokens.

        Raises
        ------
        ParameterError
            If it has not read as many.
        """
        if not 0 <= length <= text.length:
            raise ParameterError(self._where, f"a length of 0 to {text.length} to rewind to", length)
        self._keep_pages(text, -(-length // self.paging.page_size))
        del text.tokens[length:], text.places[length // self.paging.page_size :]

    def end(self, text: Text) -> None:
        """Give back all pages of a text; those that are full can be found by others until they are needed."""
        self.rewind(text, 0)

    def pages_needed(self, text: Text, count: int) -> int:
        """How many pages must be taken so that a text can have ``count`` more tokens."""
        size = self.paging.page_size
        first = text.length // size
        copied = sum(not self.pool.is_written_alone(page) for page in text.pages[first:]) if count else 0
        return max(0, -(-(text.length + count) // size) - len(text.pages)) + copied

    def step(self, pieces: Sequence[Piece]) -> np.ndarray:
        """Go on with each of these texts.

        Parameters
        ----------
        pieces : of different texts, each with at least one token

        Returns
        -------
        The outputs (m, ...) of the wanted rows, piece by piece: logits (m, vocabulary).

        Raises
        ------
        ShapeError, ParameterError, DataTypeError
            If the tokens are no integers, are too many for a step or for a text, or none, or a text stands twice.
        MemoryError
            If there are not enough pages. As after any error, no text has moved.
        """
        self._check(pieces)
        needed = sum(self.pages_needed(piece.text, len(piece.tokens)) for piece in pieces)
        if needed > self.pool.available:
            raise MemoryError(f"{self._where}: expected {needed} free pages, got {self.pool.available}")
        for piece in pieces:
            self._take_pages(piece.text, len(piece.tokens))
        tokens, wanted = self._laid_out(pieces)
        try:
            results = self._execution.run((tokens[None],), None, self._state, wanted > 0)
        except BaseException:
            for piece in pieces:  # a page behind what a text has read would be taken for one that is full
                self._keep_pages(piece.text, -(-piece.text.length // self.paging.page_size))
            raise
        for piece in pieces:
            piece.text.tokens += map(int, piece.tokens)
            self._let_find(piece.text)
        return np.asarray(results[0])[0, :wanted] if wanted else np.empty((0,), np.float32)

    def prepare(self, rows: int, wanted: int) -> None:
        """Plan steps of so many rows, of which so many are wanted, before one comes: the first would take longer.

        Examples
        --------
        >>> import kuiper
        >>> from kuiper.models import bundled
        >>> kuiper.load(bundled("shakespeare")).start_batch(pages=8).prepare(rows=4, wanted=4)
        """
        executor = self._execution.executor
        if executor is not None:
            tokens = np.zeros((1, padded_rows(rows, self.paging.rows)), np.int64)
            paging = self.paging._replace(chosen=padded_rows(wanted, tokens.size) if wanted else 0)
            executor.plan_for([tokens], self.max_length, wanted > 0, paging)

    def _check(self, pieces: Sequence[Piece]) -> None:
        paging, rows = self.paging, sum(len(piece.tokens) for piece in pieces)
        if not pieces or not all(len(piece.tokens) for piece in pieces):
            raise ShapeError(self._where, "pieces of at least one token", "an empty one" if pieces else "none")
        if rows > paging.rows or len(pieces) > paging.texts:
            expected = f"at most {paging.rows} tokens of {paging.texts} texts"
            raise ShapeError(self._where, expected, f"{rows} of {len(pieces)}")
        if len({id(piece.text) for piece in pieces}) < len(pieces):
            raise ParameterError(self._where, "pieces of different texts", "one text twice")
        for piece in pieces:
            if np.asarray(piece.tokens).dtype.kind not in "iu":
                raise DataTypeError(self._where, "tokens that are integers", np.asarray(piece.tokens).dtype)
            if piece.text.length + len(piece.tokens) > self.max_length:
                capacity = self.max_length - piece.text.length
                raise ShapeError(self._where, f"at most {capacity} more tokens of a text", len(piece.tokens))
            if not 0 <= piece.wanted <= len(piece.tokens):
                raise ParameterError(self._where, f"0 to {len(piece.tokens)} wanted rows", piece.wanted)

    def _take_pages(self, text: Text, count: int) -> None:
        """Pages of its own for what a text will write: a shared one is copied, if it has tokens of this text."""
        size = self.paging.page_size
        first = text.length // size
        for at in range(first, len(text.pages)):
            page = text.pages[at]
            if not self.pool.is_written_alone(page):
                text.pages[at] = self.pool.take()
                self._state.copy_page(page, text.pages[at])
                self.pool.give_back(page)
        while len(text.pages) * size < text.length + count:
            text.pages.append(self.pool.take())

    def _laid_out(self, pieces: Sequence[Piece]) -> tuple[np.ndarray, int]:
        """The tokens of a step, padded, with all that the state says of their rows; how many rows are wanted."""
        arrays = self._state.integers
        tokens = np.zeros(padded_rows(sum(len(piece.tokens) for piece in pieces), self.paging.rows), np.int64)
        row = wanted = 0
        for number, piece in enumerate(pieces):
            end = row + len(piece.tokens)
            tokens[row:end] = piece.tokens
            arrays["positions"][row:end] = np.arange(piece.text.length, piece.text.length + end - row)
            arrays["texts"][row:end] = number
            arrays["tables"][number, : len(piece.text.pages)] = piece.text.pages
            arrays["chosen"][wanted : wanted + piece.wanted] = np.arange(end - piece.wanted, end)
            row, wanted = end, wanted + piece.wanted
        arrays["positions"][row : len(tokens)], arrays["texts"][row : len(tokens)] = 0, -1
        chosen = padded_rows(wanted, len(tokens)) if wanted else 0
        arrays["chosen"][wanted:chosen] = 0
        self._state.paging = self.paging._replace(chosen=chosen)
        return tokens, wanted

    def _let_find(self, text: Text) -> None:
        """Let the pages that have become full be found."""
        size = self.paging.page_size
        for at in range(len(text.places), text.length // size):
            place = text.places[-1] if text.places else BEGIN
            text.places.append(self.pool.keep(place, text.tokens[at * size : (at + 1) * size], text.pages[at]))

    def _keep_pages(self, text: Text, count: int) -> None:
        """Give back all but the first pages, the last one first: a beginning is worth more than what follows it."""
        while len(text.pages) > count:
            self.pool.give_back(text.pages.pop())


def padded_rows(count: int, most: int) -> int:
    """The number that a step of this many rows is padded to: a power of two, or one and a half of it.

    >>> [padded_rows(count, 256) for count in (1, 2, 3, 5, 7, 9, 17, 200)]
    [1, 2, 3, 6, 8, 12, 24, 256]
    """
    power = 1 << (count - 1).bit_length()
    return min(power * 3 // 4 if count <= power * 3 // 4 else power, most)
