"""Errors about what no course has: the number of an exercise, a function with hints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.errors import CommandError
from kuiper.course.phrases import listed, phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def no_exercise(known: Sequence[str], asked: str) -> CommandError:
    """There is no exercise with this number; those that there are stand there in short."""
    there = in_short(known) if known else phrase("none, as there are no courses here")
    hint = phrase("{command} lists all", command="kuiper progress")
    return CommandError(phrase("exercise"), phrase("one of {known}", known=there), repr(asked), hint)


def no_function(exercise: str, known: Sequence[str], asked: str) -> CommandError:
    """An exercise has no hints for a function of this name."""
    where = phrase("hints of {exercise}", exercise=exercise)
    if not known:
        return CommandError(where, phrase("an exercise with hints"), phrase("one without"))
    return CommandError(where, phrase("a function of the exercise: {known}", known=listed(known)), repr(asked))


def in_short(ids: Iterable[str]) -> str:
    """Numbers in teaching order; three or more of a course that follow each other are one range.

    >>> in_short(["1.1", "1.2", "1.3", "2.1", "3.8", "3.9", "3.10", "3.12", "3.13"])
    '1.1 to 1.3, 2.1, 3.8 to 3.10, 3.12, 3.13'
    """
    runs: list[list[str]] = []
    for id_ in ids:
        course, _, number = id_.rpartition(".")
        before = f"{course}.{int(number) - 1}" if number.isdecimal() else ""
        if runs and runs[-1][-1] == before:
            runs[-1].append(id_)
        else:
            runs.append([id_])
    ranges = ([phrase("{first} to {last}", first=run[0], last=run[-1])] if run[2:] else run for run in runs)
    return listed([words for range_ in ranges for words in range_])
