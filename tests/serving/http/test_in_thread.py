"""Work in another thread whose caller is cancelled."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Event

import anyio
import pytest

from kuiper.serving.http.in_thread import in_thread

WAIT = 60.0


def test_in_thread_gives_results_and_errors_on() -> None:
    async def ask() -> None:
        assert await in_thread(divmod, 7, 3) == (2, 1)
        with pytest.raises(ZeroDivisionError):
            await in_thread(divmod, 7, 0)

    asyncio.run(ask())


def test_who_is_cancelled_waits_for_the_thread_and_those_who_wait_are_never_called() -> None:
    has_begun, may_end, ended = Event(), Event(), list[str]()

    def work(name: str) -> None:
        has_begun.set()
        assert may_end.wait(WAIT)
        ended.append(name)

    async def ask() -> None:
        limiter = anyio.CapacityLimiter(1)
        tasks = [asyncio.ensure_future(in_thread(work, name, limiter=limiter)) for name in "ab"]
        while not has_begun.is_set():
            await asyncio.sleep(0.001)
        for task in tasks:
            task.cancel()
        await asyncio.sleep(0.01)
        assert not any(task.done() for task in tasks)
        may_end.set()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
            assert task.cancelled()

    asyncio.run(ask())
    assert ended == ["a"]
