"""A line that says what takes so long."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from kuiper.course.errors import BuildError, CourseError
from kuiper.machine.processes import has_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SLOW_SECONDS = 2.0


@contextlib.contextmanager
def told_if_slow(
    say: Callable[[str], object], words: Callable[[], str], seconds: float = SLOW_SECONDS
) -> Iterator[None]:
    """Say the words, which are only then made, if the block has not ended after this many seconds."""

    def tell() -> None:
        # Without compilers nobody knows what is compiled: then the block says so.
        with contextlib.suppress(CourseError, BuildError):
            say(words())

    if not has_processes():  # then there are no threads, either
        yield
        return
    timer = threading.Timer(seconds, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
