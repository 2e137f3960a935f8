"""Calls of one model from many threads, of which those that come together run as one batch.

    submit --> waiting --> [ the thread: calls of equal shapes behind the first axis, joined along it ] --> futures

A call waits for others for a few milliseconds at most, and not at all while enough of them are there. Calls are joined
only if the model's rows are strangers to each other, bit by bit, which the first calls that could be joined find out.

Source: NVIDIA Triton Inference Server, "Dynamic batching".
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.serving.row_wise import is_row_wise, run_in_pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.serving.row_wise import Array, Run


@dataclass(eq=False)
class _Call:
    """Inputs that wait for their turn."""

    inputs: tuple[Array, ...]
    future: Future[list[Array]] = field(default_factory=Future)
    arrived: float = field(default_factory=monotonic)

    @property
    def rows(self) -> int:
        """How many it has; 0 if it cannot be joined with others."""
        sizes = {array.shape[0] if array.ndim else 0 for array in self.inputs}
        return sizes.pop() if len(sizes) == 1 else 0

    @property
    def kind(self) -> tuple[object, ...]:
        """What is the same for all calls of a batch."""
        return tuple((array.shape[1:], array.dtype.str) for array in self.inputs)


class DynamicBatcher:
    """A thread of its own that runs a model for all others.

    Parameters
    ----------
    run : the model, from arrays to a list of arrays; it is called in the thread
    most : rows of a batch; 1 joins nothing
    delay : how long a call waits for others at most, in seconds
    name : of the thread

    Raises
    ------
    ParameterError
        If ``most`` is below 1, or ``delay`` below 0.

    Examples
    --------
    >>> batcher = DynamicBatcher(lambda x: [2 * x])
    >>> futures = [batcher.submit(np.float32([[number]])) for number in range(3)]
    >>> [future.result()[0].tolist() for future in futures]
    [[[0.0]], [[2.0]], [[4.0]]]
    >>> batcher.stop()
    """

    def __init__(self, run: Run, *, most: int = 16, delay: float = 0.002, name: str = "kuiper batcher") -> None:
        if most < 1:
            raise ParameterError("batch", "at least 1 row", most)
        if not delay >= 0:
            raise ParameterError("batch", "a delay of at least 0 seconds", delay)
        self.runs = self.rows = 0
        """How many batches have run, and how many rows were in them."""
        self._run, self._most, self._delay = run, most, delay
        self._is_row_wise: bool | None = False if most == 1 else None  # None: not known yet
        self._changed = Condition()
        self._waiting: list[_Call] = []
        self._is_stopping = False
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many calls have not begun."""
        return len(self._waiting)

    def submit(self, *inputs: Array) -> Future[list[Array]]:
        """What will have the outputs for these inputs, or the error of the model; it can be cancelled until it runs.

        Raises
        ------
        ParameterError
            If the batcher was stopped.
        """
        call = _Call(inputs)
        with self._changed:
            if self._is_stopping:
                raise self._stopped()
            self._waiting.append(call)
            self._changed.notify()
        call.future.add_done_callback(partial(self._forget, call))
        return call.future

    def stop(self, *, finish: bool = True) -> None:
        """Take nothing new, and return when what waits has run, or has failed unless ``finish``."""
        with self._changed:
            self._is_stopping = True
            given_up: list[_Call] = []
            if not finish:
                given_up, self._waiting = self._waiting, []
            self._changed.notify()
        for call in given_up:
            if call.future.set_running_or_notify_cancel():
                call.future.set_exception(self._stopped())
        self._thread.join()

    def _forget(self, call: _Call, future: Future[list[Array]]) -> None:
        """Let go of the arrays of a call that has run or was cancelled; its future lives on with those who asked."""
        with self._changed:
            if future.cancelled():
                self._waiting = [other for other in self._waiting if other is not call]
            call.inputs = ()

    def _stopped(self) -> ParameterError:
        return ParameterError(self._thread.name, "a batcher that runs", "one that was stopped")

    def _work(self) -> None:
        while self._has_run(self._next_calls()):
            pass

    def _has_run(self, calls: list[_Call]) -> bool:
        """Run these, if there are any. Nothing of them stays behind: the thread may sleep for long."""
        wanted = [call for call in calls if call.future.set_running_or_notify_cancel()]
        if len(wanted) < 2 or not self._ran_together(wanted):
            for call in wanted:
                self._run_alone(call)
        return bool(calls)

    def _next_calls(self) -> list[_Call]:
        """Those that run next, taken out of the queue; none if the batcher was stopped."""
        with self._changed:
            while not self._is_stopping and (left := self._time_left()) != 0:
                self._changed.wait(left)
            taken = self._waiting[:1]
            rows = sum(call.rows for call in taken)
            for call in self._waiting[1:]:
                if self._joins(call) and rows + call.rows <= self._most:
                    taken.append(call)
                    rows += call.rows
            self._waiting = [call for call in self._waiting if call not in taken]
            return taken

    def _time_left(self) -> float | None:
        """Seconds until the first of the queue has to run; None if there is nobody."""
        if not self._waiting:
            return None
        rows = sum(call.rows for call in self._waiting if self._joins(call))
        return max(0.0, self._waiting[0].arrived + self._delay - monotonic()) if 0 < rows < self._most else 0.0

    def _joins(self, call: _Call) -> bool:
        """Whether a call could run with the first of the queue."""
        first = self._waiting[0]
        return self._is_row_wise is not False and first.rows > 0 < call.rows and call.kind == first.kind

    def _ran_together(self, calls: Sequence[_Call]) -> bool:
        """Give each of several calls its rows; False if they have to run alone, as one of them fails or is no row."""
        if self._is_row_wise is None:
            self._is_row_wise = is_row_wise(self._run, calls[0].inputs)
        if not self._is_row_wise:
            return False
        rows = sum(call.rows for call in calls)
        try:
            joined = [np.concatenate(parts) for parts in zip(*(call.inputs for call in calls), strict=True)]
            outputs = run_in_pieces(self._run, joined, self._most)
        except Exception:
            return False
        if any(output.shape[:1] != (rows,) for output in outputs):  # how many depends on the numbers
            return False
        self._count(rows)
        first = 0
        for call in calls:
            end = first + call.rows
            call.future.set_result([output[first:end] for output in outputs])
            first = end
        return True

    def _run_alone(self, call: _Call) -> None:
        try:
            outputs = self._run(*call.inputs)
        except Exception as error:  # whatever a model raises: the next calls may be able to run
            call.future.set_exception(error)
            return
        self._count(call.rows or 1)
        call.future.set_result(outputs)

    def _count(self, rows: int) -> None:
        self.runs += 1
        self.rows += rows
