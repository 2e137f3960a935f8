"""What a student's file shows by itself, whatever it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.suspects import Slips, Suspect

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.course.classroom import Classroom
    from kuiper.course.manifest import Exercise


def seen(classroom: Classroom, exercise: Exercise, function: str) -> list[Suspect]:
    """The mistakes that show in the student's function itself."""
    return _of_own_file(classroom, exercise, function, Slips.at_sight)


def unused(classroom: Classroom, exercise: Exercise, function: str) -> list[Suspect]:
    """What the student's function is given and does not use, although the solution does."""
    return _of_own_file(classroom, exercise, function, Slips.unread)


def _of_own_file(
    classroom: Classroom, exercise: Exercise, function: str, look: Callable[[Slips], list[Suspect]]
) -> list[Suspect]:
    if not exercise.solution_file.is_file():
        return []
    try:
        return look(Slips(exercise, classroom.selection_for(exercise).path(exercise), function, own=True))
    except SyntaxError:  # of Cython that is not known as Python
        return []
