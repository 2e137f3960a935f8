"""Work in another thread that keeps its seat: nobody else gets it before the thread is done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


async def in_thread(
    function: Callable[..., Result], *arguments: Any, limiter: anyio.CapacityLimiter | None = None
) -> Result:
    """What a function returns that takes time.

    A thread cannot be stopped: if the caller is cancelled, as its client has left, this waits until the thread is done.
    So clients who come and leave have no more work done at the same time than others.

    Parameters
    ----------
    function : is called with the arguments, or not at all if the caller is cancelled before its turn comes
    arguments : of the function
    limiter : how many threads there may be
    """
    is_wanted = True

    def run() -> Any:
        return function(*arguments) if is_wanted else None

    work = asyncio.ensure_future(anyio.to_thread.run_sync(run, limiter=limiter))
    try:
        result: Result = await asyncio.shield(work)
    except asyncio.CancelledError:
        is_wanted = False
        await asyncio.gather(work, return_exceptions=True)
        raise
    return result
