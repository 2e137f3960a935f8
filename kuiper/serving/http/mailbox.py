"""From the thread of a worker to the event loop: all parts of a step in one go, so that the two threads change once."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing import Any

Item = TypeVar("Item")


class Mailbox:
    """What a worker puts in is in the queues of the event loop soon after the worker calls ``send``.

    Each wake-up of another thread costs two changes of Python's lock; with one for each token, they would take longer
    than a step of a small model.
    """

    def __init__(self) -> None:
        self._items: deque[tuple[asyncio.Queue[Any], Any]] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_coming = False

    def open(self) -> None:
        """Deliver to the running event loop, from now on."""
        self._loop = asyncio.get_running_loop()

    def put(self, queue: asyncio.Queue[Item], item: Item) -> None:
        """An item for a queue of the event loop; from any thread."""
        self._items.append((queue, item))

    def send(self) -> None:
        """Let the event loop take what is there; from any thread."""
        if self._items and not self._is_coming and self._loop is not None:
            self._is_coming = True
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._is_coming = False  # first: what comes from now on is either taken below, or sent anew
        while self._items:
            queue, item = self._items.popleft()
            queue.put_nowait(item)
