"""An error that comes out of the file of another exercise, whatever stands in this one's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.course.causes import raised_in
from kuiper.course.phrases import code, phrase

if TYPE_CHECKING:
    from kuiper.course.classroom import Classroom
    from kuiper.course.diagnosis import Ran
    from kuiper.course.manifest import Exercise


def raised_elsewhere(classroom: Classroom, exercise: Exercise, failed: Ran, error: BaseException) -> str:
    """The words for it; "" where this exercise's reference would not end so."""
    raised = raised_in(error)
    file = raised.place.partition(":")[0] if raised else ""
    if not raised or not file or Path(file).name == exercise.file or failed.is_property:
        return ""
    if not exercise.solution_file.is_file():
        return ""
    selection = classroom.selection_for(exercise).with_path(exercise, exercise.solution_file)
    other = raised_in(failed.error_on(classroom.implementation(exercise, selection)))
    if other is None or (other.type, other.place) != (raised.type, raised.place):
        return ""
    return phrase("{file} raises this, whatever stands in the file of this exercise", file=code(file))
