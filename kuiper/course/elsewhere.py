"""An error that comes out of the file of another exercise, whatever stands in this one's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.course.implementation import StudentError
from kuiper.course.observation import Raised
from kuiper.course.phrases import code, phrase
from kuiper.course.testing import Mismatch

if TYPE_CHECKING:
    from kuiper.course.classroom import Classroom
    from kuiper.course.diagnosis import Ran
    from kuiper.course.manifest import Exercise


def raised_elsewhere(classroom: Classroom, exercise: Exercise, failed: Ran, error: BaseException) -> str:
    """The words for it; "" where this exercise's reference would not end so."""
    raised = _raised(error)
    file = raised.place.partition(":")[0] if raised else ""
    if not raised or not file or Path(file).name == exercise.file or failed.is_property:
        return ""
    if not exercise.solution_file.is_file():
        return ""
    selection = classroom.selection_for(exercise).with_path(exercise, exercise.solution_file)
    other = _raised(failed.error_on(classroom.implementation(exercise, selection)))
    if other is None or (other.type, other.place) != (raised.type, raised.place):
        return ""
    return phrase("{file} raises this, whatever stands in the file of this exercise", file=code(file))


def _raised(error: BaseException | None) -> Raised | None:
    """The student's error within that of a test."""
    if isinstance(error, StudentError):
        return error.raised
    return error.got if isinstance(error, Mismatch) and isinstance(error.got, Raised) else None
