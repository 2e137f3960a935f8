"""A session: one text on its way through a graph with state.

    session = model.start(max_length=512)
    session(prompt)      logits of every position of the prompt; their keys and values stay in the caches
    session(token)       one step: only the new position is computed

Calls of many tokens run in pieces of at most ``MAX_PIECE`` tokens. A piece is padded to a power of two, so that a few
plans serve all lengths. The padding writes past the current length; those positions are overwritten before they are
read.
"""

from __future__ import annotations

import sys
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from kuiper.errors import DataTypeError, GraphStateError, ParameterError, ShapeError
from kuiper.graph.state import State
from kuiper.locks import open_in_children
from kuiper.tensor import Tensor

if TYPE_CHECKING:
    from kuiper.graph.execution import BuiltGraph, Execution
    from kuiper.graph.protocols import Observer

MAX_PIECE = 256
"""Tokens of the longest piece: enough for the matrix products to be limited by arithmetic, not by memory."""

_lock = Lock()  # who shares a state with whom
open_in_children(sys.modules[__name__])


class Session:
    """What ``RuntimeGraph.start`` returns. Sessions of one model share its weights and plans, nothing else.

    A session is one text: its calls follow each other, and threads that share it wait for their turn.

    Parameters
    ----------
    execution : what runs the graph
    state : where the session has got to
    where : what messages call it
    origin : the session that it is a fork of

    Examples
    --------
    >>> from kuiper.layers import registry
    >>> from kuiper.graph import RuntimeGraph
    >>> from kuiper.models.text.random_decoder import random_decoder
    >>> model = RuntimeGraph(random_decoder(seed=1))
    >>> model.build(registry)
    >>> session = model.start(max_length=16)
    >>> session([3, 1, 4]).shape, session.length
    ((3, 32), 3)
    """

    def __init__(self, execution: Execution, state: State, where: str, origin: Session | None = None) -> None:
        self._execution = execution
        self._state = state
        self._length: int = origin._length if origin else 0
        self._where = f"session of {where}"
        self._sharers: set[ref[Session]] = origin._sharers if origin else set()
        """All sessions on this state, the same set for each of them."""
        self._sharers.add(ref(self))
        self._lock = Lock()
        open_in_children(self)

    @property
    def length(self) -> int:
        """How many tokens the session has seen."""
        return self._length

    @property
    def max_length(self) -> int:
        """How many tokens it can hold."""
        return self._state.max_length

    @property
    def nbytes(self) -> int:
        """Bytes of its caches."""
        return self._state.nbytes

    def __call__(self, tokens: Any, observer: Observer | None = None) -> Tensor:
        """Go on with these tokens.

        Parameters
        ----------
        tokens : integers (n,), or (b, n) for b texts of one length that go on side by side
        observer : is called after each operator, as that of ``RuntimeGraph.forward``; the layers then do the work

        Returns
        -------
        What the graph computes for each of them: logits (n, vocabulary), or (b, n, vocabulary).

        Raises
        ------
        DataTypeError
            If they are not integers.
        ShapeError
            If there are none, or more than the session can hold. As after any error, the session has not moved.

        Examples
        --------
        >>> import kuiper
        >>> from kuiper.models import bundled
        >>> session = kuiper.load(bundled("shakespeare")).start(max_length=16)
        >>> types = []
        >>> session([1, 2], observer=lambda op, outputs, seconds: types.append(op.type)).shape
        (2, 65)
        >>> types[-1]
        'F.linear'
        """
        pieces = self._go_on(self._checked(tokens), outputs=True, observer=observer)
        whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)
        return Tensor.wrap(np.ascontiguousarray(whole[0] if np.ndim(tokens) == 1 else whole))

    def read(self, tokens: Any) -> None:
        """Go on with these tokens without an answer: only what the caches need is computed. See ``__call__``."""
        self._go_on(self._checked(tokens), outputs=False)

    def rewind(self, length: int) -> None:
        """Go back to where the session had seen ``length`` tokens, at no cost; ``rewind(0)`` begins anew.

        Raises
        ------
        ParameterError
            If it has not seen as many.
        """
        with self._lock:
            if not 0 <= length <= self._length:
                raise ParameterError(self._where, f"a length of 0 to {self._length} to rewind to", length)
            self._length = length

    def fork(self) -> Session:
        """A second session that has seen the same tokens and goes its own way.

        It costs nothing until one of the two goes on: that one copies what they have seen.
        """
        with self._lock, _lock:
            return Session(self._execution, self._state, self._where.removeprefix("session of "), self)

    def _checked(self, tokens: Any) -> np.ndarray:
        """The tokens as (b, n)."""
        array = np.asarray(tokens)
        if array.dtype.kind not in "iu":
            raise DataTypeError(self._where, "tokens that are integers", array.dtype)
        if array.ndim not in (1, 2) or array.size == 0:
            raise ShapeError(self._where, "tokens (n,) or (b, n), at least one", array.shape)
        return np.atleast_2d(array).astype(np.int64)

    def _go_on(self, tokens: np.ndarray, outputs: bool, observer: Observer | None = None) -> list[Any]:
        """What the graph gives for each piece of the tokens; whatever happens halfway, the session has not moved."""
        with self._lock:
            count, capacity = tokens.shape[1], self.max_length - self._length
            if count > capacity:
                hint = f"start(max_length={self._length + count})"
                raise ShapeError(self._where, f"at most {capacity} more tokens", count, hint=hint)
            self._leave_sharers()
            self._state.length = self._length
            pieces = [self._run(tokens[:, i : i + MAX_PIECE], outputs, observer) for i in range(0, count, MAX_PIECE)]
            self._length = self._state.length
            return pieces

    def _leave_sharers(self) -> None:
        """Before it is written to: have a state alone, which is a copy if there are forks on it still."""
        with _lock:
            sharers = self._sharers
            if len(sharers) > 1:
                if any(other() not in (self, None) for other in sharers):
                    self._state.length = self._length
                    self._state = self._state.copy()
                self._sharers = {ref(self)}
                sharers.remove(ref(self))

    def _run(self, tokens: np.ndarray, outputs: bool, observer: Observer | None) -> Any:
        """One piece, padded, and the state moved on."""
        count = tokens.shape[1]
        capacity = self._state.max_length - self._state.length
        padded = np.zeros((len(tokens), min(bucket(count), capacity)), np.int64)
        padded[:, :count] = tokens
        results = self._execution.run((padded,), observer, self._state, outputs)
        self._state.length += count
        return results[0][:, :count] if outputs else None


def start(graph: BuiltGraph, max_length: int) -> Session:
    """Begin a text: a session, whose calls each go on where the one before has ended.

    Parameters
    ----------
    max_length : how many tokens the session can hold; its memory grows in proportion

    Returns
    -------
    What is called with tokens. Many sessions of one model can go on side by side.

    Raises
    ------
    GraphStateError
        If the graph has not been built, none of its operators has state, or it reads whole texts.
    ParameterError
        If ``max_length`` is not at least 1.

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> model = kuiper.load(bundled("cifar_resnet20"))
    >>> model.start(max_length=64)
    Traceback (most recent call last):
    kuiper.errors.GraphStateError: cifar_resnet20.pnnx.param: expected a model with state, got one without
    """
    execution = execution_of_pieces(graph)
    if max_length < 1:
        raise ParameterError(f"{graph.name}: start", "a max_length of at least 1", max_length)
    return Session(execution, State(max_length), graph.name)


def execution_of_pieces(graph: BuiltGraph) -> Execution:
    """What runs a graph that a text can go through piece by piece.

    Raises
    ------
    GraphStateError
        If the graph has not been built, or is not such a one.
    """
    execution = graph.execution
    if not execution.has_state:
        raise GraphStateError(graph.name, "a model with state", "one without")
    if execution.reads_whole_texts:
        raise GraphStateError(graph.name, "a model that reads texts piece by piece", "one that reads whole texts")
    return execution


def bucket(count: int) -> int:
    """The power of two that a piece of this many tokens is padded to.

    >>> [bucket(count) for count in (1, 2, 3, 5, 256)]
    [1, 2, 4, 8, 256]
    """
    return 1 << (count - 1).bit_length()
