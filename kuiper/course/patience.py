"""A line that says what takes so long."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

from kuiper.course.errors import BuildError, CourseError
from kuiper.course.layout import folded
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
        timer.join()  # what is being said is said before the block's end


def said_meanwhile(reporter: Any, capture: Any, sentence: str) -> None:
    """Write a sentence on pytest's terminal, also while a test runs: then pytest keeps even what it prints itself."""
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        reporter.ensure_newline()
        if reporter._tw.width_of_current_line:  # letters of tests, with no name of a file before them
            reporter.write("\n")
        for line in folded(sentence):
            reporter.write_line(line)
