"""An exercise as the end of a section of a lecture shows it: a box, in the reader's language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.course.bugs import Bug, read_bugs
from kuiper.course.errors import CourseError
from kuiper.language import _, translate

if TYPE_CHECKING:
    from kuiper.course.manifest import Exercise, Syllabus


@dataclass(frozen=True, repr=False)
class Task:
    """The box of one exercise."""

    part: Exercise
    mistakes: tuple[Bug, ...]

    def markdown(self) -> str:
        """A box: number and name, minutes, the file, how to run it, what goes wrong."""
        part = self.part
        file = f"{part.course.name}/exercises/{part.file}"
        title = _("**Exercise {exercise}** · about {minutes} minutes").format(exercise=part.label, minutes=part.minutes)
        lines = [
            f"> {title} · [{file}](../{file})",
            ">",
            f"> `python -m pytest {part.course.name} --exercise {part.id}` · `kuiper hint {part.id}`",
        ]
        if self.mistakes:
            mistakes = (translate(bug.when, "bugs") for bug in self.mistakes)
            heading = _("What goes wrong here:")
            lines += [">", f"> {heading}", ">", *(f"> - {when}" for when in mistakes)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return _("exercise {exercise}").format(exercise=self.part.label)

    def _repr_markdown_(self) -> str:
        return self.markdown()


def task_box(syllabus: Syllabus, id_: str, *mistakes: str) -> Task:
    """The exercise of this number, and the bugs of its bank, by name, that its section wants to warn of.

    Raises
    ------
    CourseError
        If there is no such exercise, or no such bug.
    """
    part = syllabus.exercise(id_)
    bugs = {bug.name: bug for bug in read_bugs(part)}
    for name in mistakes:
        if name not in bugs:
            raise CourseError(f"task {id_}", f"bugs of {part.bugs_file.name}: {', '.join(bugs)}", name)
    return Task(part, tuple(bugs[name] for name in mistakes))
