from __future__ import annotations

import threading

from kuiper.course.errors import BuildError
from kuiper.course.patience import told_if_slow


def test_told_if_slow_says_what_takes_so_long() -> None:
    told, said = threading.Event(), []

    def say(words: str) -> None:
        said.append(words)
        told.set()

    with told_if_slow(say, lambda: "compiling", seconds=0.0):
        assert told.wait(60)
    assert said == ["compiling"]


def test_told_if_slow_is_silent_where_nothing_is() -> None:
    said: list[str] = []
    with told_if_slow(said.append, lambda: "compiling", seconds=1e6):
        pass
    assert not said


def test_told_if_slow_leaves_what_is_wrong_to_the_block() -> None:
    asked = threading.Event()

    def words() -> str:
        asked.set()
        raise BuildError("exercise", "a C compiler", "none")

    before = set(threading.enumerate())
    with told_if_slow(print, words, seconds=0.0):
        assert asked.wait(60)
    for thread in set(threading.enumerate()) - before:
        thread.join()  # what it raises would be an error of this test
