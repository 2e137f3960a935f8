from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kuiper.course import plain_loop
from kuiper.course.plain_loop import NobodyWakesError, TooManyTurnsError, run


def test_run_returns_what_the_coroutine_returns() -> None:
    async def main() -> int:
        await asyncio.sleep(0)
        return 5

    assert run(main()) == 5


def test_run_raises_what_the_coroutine_raises() -> None:
    async def main() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run(main())


def test_run_lets_tasks_take_turns() -> None:
    async def main() -> list[str]:
        queue: asyncio.Queue[str] = asyncio.Queue()

        async def say(word: str) -> None:
            for _ in range(2):
                queue.put_nowait(word)
                await asyncio.sleep(0)

        tasks = [asyncio.create_task(say(word)) for word in "ab"]
        heard = [await queue.get() for _ in range(4)]
        await asyncio.gather(*tasks)
        return heard

    assert run(main()) == ["a", "b", "a", "b"]


def test_run_counts_time_and_does_not_wait() -> None:
    async def main() -> tuple[float, str]:
        loop = asyncio.get_running_loop()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 1e6)
        await asyncio.sleep(1e6)
        return loop.time(), "later"

    assert run(main()) == (2e6, "later")


def test_run_wakes_the_earliest_first() -> None:
    async def main() -> list[int]:
        found: list[int] = []
        loop = asyncio.get_running_loop()
        for delay in (3, 1, 2):
            loop.call_later(delay, found.append, delay)
        loop.call_later(1.5, found.append, 0).cancel()
        await asyncio.sleep(5)
        return found

    assert run(main()) == [1, 2, 3]


def test_run_ends_where_nobody_wakes_anybody() -> None:
    async def main() -> None:
        await asyncio.Queue().get()

    with pytest.raises(NobodyWakesError, match="tasks that all wait"):
        run(main())


def test_run_raises_the_failure_of_a_task_that_was_waited_for() -> None:
    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()

        async def fail() -> None:
            raise ValueError("the reason")

        task = asyncio.create_task(fail())
        await queue.get()
        await task

    with pytest.raises(ValueError, match="the reason"):
        run(main())


def test_run_ends_a_task_that_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_loop, "MOST_TURNS", 500)

    async def main() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(TooManyTurnsError, match="500 turns"):
        run(main())


def test_run_cancels_what_is_left() -> None:
    ends: list[str] = []

    async def main() -> None:
        async def wait() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ends.append("cancelled")

        task = asyncio.create_task(wait())
        await asyncio.sleep(1)
        assert not task.done()

    run(main())
    assert ends == ["cancelled"]


def test_run_within_a_loop_that_runs() -> None:
    async def inner() -> str:
        await asyncio.sleep(1)
        return "inner"

    async def main() -> Any:
        outer, task = asyncio.get_running_loop(), asyncio.current_task()
        found = [run(inner())]  # as a cell of Jupyter does, which is a task itself
        outer.call_soon(lambda: found.append(run(inner())))
        await asyncio.sleep(0.01)
        return found, asyncio.get_running_loop() is outer, asyncio.current_task() is task

    assert asyncio.run(main()) == (["inner", "inner"], True, True)
