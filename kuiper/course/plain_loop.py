"""An event loop for tests of coroutines: no sockets, no threads, no waiting, so it runs in a browser's tab, too.

    run(main())

Time is counted, not waited for: when all tasks wait for a time, it is that time. When all wait for each other, or for
nothing that will ever come, nobody wakes anybody: this raises at once, where a loop of the system would wait for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextvars import Context

T = TypeVar("T")

MOST_TURNS = 100_000
"""Calls of one run, at most: a task that never waits for anything would have the loop for ever."""


class NobodyWakesError(Exception):
    """All tasks wait, and nothing will wake one of them."""


class TooManyTurnsError(Exception):
    """Tasks go on and on without an end."""


class PlainLoop:
    """What coroutines, tasks, queues and events ask of a loop, under the names of ``asyncio.AbstractEventLoop``."""

    def __init__(self) -> None:
        self._ready: deque[asyncio.Handle] = deque()
        self._later: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._now, self._turns = 0.0, 0
        self._tasks: list[asyncio.Task[Any]] = []
        self._as_loop: Any = self  # for the types of those who want an AbstractEventLoop, with its 35 other methods

    def run_to_end(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns. The tasks that are still there are cancelled.

        Raises
        ------
        NobodyWakesError
            If it waits for something that never comes. If another task has failed, its error comes instead.
        TooManyTurnsError
            If it does not end within MOST_TURNS calls.
        """
        outer = asyncio._get_running_loop()
        task = asyncio.current_task(outer) if outer else None  # a cell of Jupyter is one
        if outer and task:
            asyncio._leave_task(outer, task)
        asyncio._set_running_loop(self._as_loop)
        try:
            main = self.create_task(coroutine)
            try:
                self._turn_until(main.done)
            except NobodyWakesError:
                self._raise_failure()
                raise
            finally:
                self._cancel_all()
            result: T = main.result()
            return result
        finally:
            asyncio._set_running_loop(outer)
            if outer and task:
                asyncio._enter_task(outer, task)

    def _turn_until(self, is_over: Callable[[], bool]) -> None:
        while not is_over():
            if not self._ready:
                self._pass_time()
            self._turns += 1
            if self._turns > MOST_TURNS:
                raise TooManyTurnsError(f"expected an end within {MOST_TURNS} turns, got none")
            handle = self._ready.popleft()
            if not handle.cancelled():
                handle._run()

    def _pass_time(self) -> None:
        while self._later:
            self._now, _, timer = heapq.heappop(self._later)
            if not timer.cancelled():
                self._ready.append(timer)
                return
        raise NobodyWakesError("expected something that wakes a task, got tasks that all wait")

    def _raise_failure(self) -> None:
        for task in self._tasks:
            if task.done() and not task.cancelled() and (error := task.exception()):
                raise error

    def _cancel_all(self) -> None:
        left = [task for task in self._tasks if not task.done()]
        for task in left:
            task.cancel()
        self._turns = 0
        with contextlib.suppress(NobodyWakesError, TooManyTurnsError):  # of one that does not let itself be cancelled
            self._turn_until(lambda: all(task.done() for task in left))
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.exception()  # it was looked at: nothing is printed when it goes

    def time(self) -> float:
        return self._now

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self._as_loop, context)
        self._ready.append(handle)
        return handle

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self._as_loop, context)
        self._turns += 1
        heapq.heappush(self._later, (when, self._turns, timer))
        return timer

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self._as_loop)

    def create_task(self, coro: Any, **named: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self._as_loop, **named)
        self._tasks.append(task)
        return task

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Called for tasks that have failed unseen: whether that matters, the test sees."""

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Called by a timer; it is passed over when its time comes."""


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, run on a ``PlainLoop``.

    >>> async def main():
    ...     queue = asyncio.Queue()
    ...     asyncio.get_running_loop().call_later(3600, queue.put_nowait, "an hour later")
    ...     return await queue.get()
    >>> run(main())
    'an hour later'

    Raises
    ------
    NobodyWakesError, TooManyTurnsError
        As ``PlainLoop.run_to_end``.
    """
    return PlainLoop().run_to_end(coroutine)
